"""Self-test of this machine: computations with known answers, in less than a minute.

Each engine in each vector width against float64, and on any number of threads.

The reference for gradients, predictions and steps of Adam is autograd of the models' own forward pass in float64. The
models are small and odd, so that every vector is partly empty somewhere: attention alone, shared compression, an MLP,
several layers. Trained weights do not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch

from rote.arguments import typed
from rote.display import html_rows
from rote.errors import InputError
from rote.experiments.known_answers import KnownAnswer, arithmetic, building, identities
from rote.models import AttentionOnly, MlpTransformer, Transformer
from rote.models.forward import forward
from rote.progress import SILENT, Progress
from rote.tasks.generators import random_associations
from rote.training import native_engine
from rote.training.initial import initial_weights, unflattened
from rote.training.native_engine import NativeObjective
from rote.training.objective import AdamSettings, AdamState, Objective
from rote.training.problem import TrainingProblem
from rote.training.protocol import EngineName
from rote.training.torch_objective import TorchObjective
from rote.training.train import train
from rote.version import __version__

TRAINED = AttentionOnly(vocab=12, context=2, dim=5, head_dim=5, heads=6, scale_scores=True)
TRAINED_STEPS = 60
TRAINED_FACTS = "random:vocab=12,context=2,facts=100,seed=1"


def threads(device: str) -> Iterator[KnownAnswer]:
    """Four models trained in sequence, again, and in parallel: the same weights."""
    names: list[EngineName] = ["native", "torch"] if device == "cpu" and native_engine.lanes() else ["torch"]
    for engine in names:
        alone, again, together = (_weights(engine, device, workers) for workers in (1, 1, 4))
        question = f"{engine} engine: models trained twice, and four at once, that differ in a bit"
        yield KnownAnswer.exactly(
            "threads", question, "0 and 0", f"{_differing(alone, again)} and {_differing(alone, together)}"
        )


def _weights(engine: EngineName, device: str, workers: int) -> list[dict[str, torch.Tensor]]:
    trained = train(TRAINED_FACTS, TRAINED, seeds=4, steps=TRAINED_STEPS, engine=engine, device=device, workers=workers)
    return [model.model.weights for model in trained]


def _differing(first: list[dict[str, torch.Tensor]], second: list[dict[str, torch.Tensor]]) -> int:
    return sum(
        any(not torch.equal(one[name], other[name]) for name in one) for one, other in zip(first, second, strict=True)
    )


WIDTHS = (16, 8, 4)
SPECS: tuple[Transformer, ...] = (
    AttentionOnly(vocab=15, context=2, dim=17, head_dim=6, heads=17, scale_scores=True),
    AttentionOnly(vocab=9, context=2, dim=5, head_dim=2, heads=11, variant="shared"),
    AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=3),
    MlpTransformer(vocab=13, context=2, dim=6, head_dim=6, heads=1, width=40),
    AttentionOnly(vocab=12, context=2, dim=9, head_dim=9, heads=5, layers=3, positions="attention"),
)
TOLERANCE = 5e-5
"""Of a gradient's entries, as a share of the largest: float32 rounds each to 6e-8, and errors add up over layers."""
STEPS = 30
STEPS_TOLERANCE = 1e-3
"""Of the loss after `STEPS` steps, in which rounding grows."""
ADAM = AdamSettings(0.9, 0.99, 1e-8)


def engines(device: str) -> Iterator[KnownAnswer]:
    """The torch engine on the device; on the CPU also the native engine, in every vector width."""
    yield from _engine(f"torch engine, float32, {device}", partial(TorchObjective, device=device))
    if device != "cpu":
        return
    yield from _engine("torch engine, float64", partial(TorchObjective, dtype=torch.float64), 1e-9)
    here = native_engine.lanes()
    for width in WIDTHS:
        name = f"native engine, {width} lanes ({instructions(width)})"
        if not here:
            yield KnownAnswer.not_here(name, "gradients", "not built: it was installed without a C++ compiler")
        elif width not in here:
            yield KnownAnswer.not_here(name, "gradients", "this CPU has no such instructions")
        else:
            yield from _engine(name, partial(NativeObjective, width=width))


def instructions(width: int) -> str:
    """The name of a vector width on this kind of CPU."""
    if platform.machine() in ("x86_64", "AMD64"):
        return {16: "AVX-512", 8: "AVX2", 4: "SSE2"}[width]
    return {4: "as the compiler chose"}.get(width, "x86 alone")


def _engine(name: str, make: Callable[..., Objective], tolerance: float = TOLERANCE) -> Iterator[KnownAnswer]:
    gradients = predictions = losses = 0.0
    for spec in SPECS:
        problem = TrainingProblem.of(random_associations(spec.vocab, spec.context, seed=1))
        # Larger than initial weights, so that neither attention nor the softmax is in its linear range.
        flat = 1.5 * initial_weights(spec, 3)
        engine: Objective = make(spec, problem, problem.prior)
        gradient, predicted, margins = _reference(spec, problem, flat)
        found = engine.gradient(flat[None].astype(np.float32)).gradient[0]
        gradients = max(gradients, float(np.abs(found - gradient).max() / np.abs(gradient).max()))
        clear = margins > 1e-4
        wrong = engine.predictions(flat[None].astype(np.float32))[0][clear] != predicted[clear]
        predictions += float(wrong.sum())
        losses = max(losses, _after_steps(engine, spec, problem))
    yield KnownAnswer.within(name, "gradients against float64", gradients, tolerance)
    yield KnownAnswer.exactly(name, "predictions that differ from float64's", 0, int(predictions))
    yield KnownAnswer.within(name, f"loss after {STEPS} steps of Adam against float64", losses, STEPS_TOLERANCE)


def _reference(
    spec: Transformer, problem: TrainingProblem, flat: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradient, the predictions and their margins by the models' own forward pass in float64."""
    flat = flat.astype(np.float32)
    tensors = {name: part.double().requires_grad_() for name, part in unflattened(spec, flat).items()}
    logits = forward(spec, tensors, torch.from_numpy(problem.contexts).long())
    costs = -logits.log_softmax(1)[torch.arange(len(problem)), torch.from_numpy(problem.answers).long()]
    loss = (torch.from_numpy(problem.prior) * costs).sum()
    gradient = torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(tensors.values()))])
    best = logits.detach().topk(2, 1).values
    return gradient.numpy(), logits.detach().argmax(1).numpy(), (best[:, 0] - best[:, 1]).numpy()


def _after_steps(engine: Objective, spec: Transformer, problem: TrainingProblem) -> float:
    """Relative error of the last loss, compared with the torch engine in float64."""
    rates = np.full(STEPS, 1e-2)
    exact = TorchObjective(spec, problem, problem.prior, dtype=torch.float64)
    last = [
        float(which.adam_steps(AdamState.start(initial_weights(spec, 5)[None]), rates, None, ADAM)[0][0, -1])
        for which in (engine, exact)
    ]
    return abs(last[0] / last[1] - 1)


@dataclass(frozen=True)
class Diagnosis:
    """What this machine answered.

    >>> import rote
    >>> from rote.experiments.known_answers import KnownAnswer
    >>> rote.Diagnosis("cpu", (KnownAnswer.exactly("arithmetic", "2 + 2", 4, 5),)).trusted
    False
    """

    device: str
    answers: tuple[KnownAnswer, ...]

    @property
    def trusted(self) -> bool:
        """True if every computation that runs here gave the known answer."""
        return all(answer.holds is not False for answer in self.answers)

    @property
    def wrong(self) -> list[KnownAnswer]:
        return [answer for answer in self.answers if answer.holds is False]

    @property
    def engine(self) -> str:
        """The training engine of this machine."""
        widths = native_engine.lanes() if self.device == "cpu" else []
        return f"native, {widths[0]} lanes ({instructions(widths[0])})" if widths else f"torch on {self.device}"

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            "trusted": self.trusted,
            "device": self.device,
            "engine": self.engine,
            "machine": platform.machine(),
            "versions": {"rote": __version__, "torch": torch.__version__, "python": platform.python_version()},
            "threads": torch.get_num_threads(),
            "answers": [asdict(answer) for answer in self.answers],
        }

    def _repr_html_(self) -> str:
        rows = [[answer.part, answer.question, answer.known, answer.given, answer.holds] for answer in self.answers]
        title = "numbers can be trusted here" if self.trusted else "numbers can NOT be trusted here"
        return html_rows(title, ["part", "question", "known", "given", "holds"], rows)


Part = Literal["arithmetic", "engines", "identities", "threads", "building"]
PARTS: tuple[Part, ...] = ("arithmetic", "engines", "identities", "threads", "building")


@typed
def doctor(device: str = "cpu", *, parts: Sequence[Part] = PARTS, progress: Progress = SILENT) -> Diagnosis:
    """Ask this machine, and this device, questions whose answers are known.

    Arithmetic in both precisions; every engine in every vector width against float64; models in closed form, which must
    recall every fact and verify; published identities; training on one thread and on several, which must not differ.
    `parts` asks some of these alone.

    >>> import rote
    >>> rote.doctor(parts=["arithmetic", "identities"]).trusted
    True
    """
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"`device={device}`: cannot be used here ({str(error).splitlines()[0]}); use cpu") from None
    questions: dict[Part, Callable[[], Iterator[KnownAnswer]]] = {
        "arithmetic": lambda: arithmetic(device),
        "engines": lambda: engines(device),
        "identities": identities,
        "threads": lambda: threads(device),
        "building": building,
    }
    answers: list[KnownAnswer] = []
    with progress.stage("asking", len(parts)) as stage:
        for part in parts:
            stage.describe(part)
            answers += questions[part]()
            stage.advance()
    return Diagnosis(device, tuple(answers))
