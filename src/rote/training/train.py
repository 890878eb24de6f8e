"""Training of models on a token task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from rote.arguments import typed
from rote.display import Records
from rote.errors import InputError
from rote.models import Spec, Transformer
from rote.models.grid import GRID_NAMES
from rote.progress import SILENT, Progress
from rote.tasks import TokenTask, require_tokens
from rote.tasks.facts import Facts, facts
from rote.tasks.unknown import require_unknown_keys
from rote.training.initial import trainable
from rote.training.protocol import EngineName, Protocol, grid, protocol_named
from rote.training.result import Trained
from rote.training.trials import TrainingTrial, run_trials


@typed
def train(
    task: Facts,
    spec: Spec,
    seeds: int | Sequence[int] = 5,
    protocol: str | Protocol = "fast",
    *,
    start: dict[str, Tensor] | None = None,
    workers: int | None = None,
    engine: EngineName = "auto",
    device: str = "cpu",
    memory: int | None = None,
    on_end: Callable[[Trained], object] | None = None,
    progress: Progress = SILENT,
    **changes: Any,
) -> Records[Trained]:
    """Train one model per seed (0, 1, ... when a number is given), in the order of the seeds.

    `protocol` is `paper`, `fast`, `best` or a `Protocol`; `changes` replace its fields (`steps=2000`, `batch=512`,
    `optimizer="muon"`, `polish=300`). `start` are initial weights. Default: a random initialization. Scores are scaled
    unless the specification says otherwise (`scores_scaled`). The same seed gives the same result whatever the number
    of workers. `dtype="int8"` (or int4, levels12, ...) trains on a grid, by a protocol of its own. `on_end` is called
    with each model as soon as it ends.

    >>> import rote
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> [trained.seed for trained in rote.train(task, spec, seeds=2, steps=20)]
    [0, 1]
    """
    chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise InputError(f"`seeds={seeds}`: must be at least 1")
    task = require_tokens(facts(task), "training takes associations or distributions over tokens")
    require_unknown_keys(task)
    spec = scores_scaled(spec) if start is None else trainable(spec)
    protocol = protocol_of(protocol, spec, task, **changes)
    trials = [TrainingTrial(task, spec, protocol, seed, key=number, start=start) for number, seed in enumerate(chosen)]
    ended = run_trials(trials, workers=workers, engine=engine, device=device, memory=memory, progress=progress)
    results = {}
    for trial, trained in ended:
        results[trial.key] = trained
        if on_end is not None:
            on_end(trained)
    shown = ("seed", "recall", "loss", "diverged_at", "parameters", "cpu_seconds")
    return Records((results[number] for number in range(len(chosen))), shown)


def protocol_of(protocol: str | Protocol, spec: Spec, task: TokenTask, **changes: Any) -> Protocol:
    """The protocol of a name, or the given one, with fields changed."""
    if changes.get("dtype") is not None:
        if protocol != "fast":
            raise InputError(f"`dtype={changes['dtype']}`: has a protocol of its own; leave `protocol` out")
        if changes["dtype"] not in GRID_NAMES:
            raise InputError(f"`dtype={changes['dtype']}`: is not one of {', '.join(GRID_NAMES)}")
        return grid(task.facts, **changes)
    if isinstance(protocol, str):
        return protocol_named(protocol, spec, task.facts, **changes)
    return protocol.changed(**changes)


def scores_scaled(spec: Spec) -> Transformer:
    """The specification with scores divided by sqrt(head_dim), as in every published experiment.

    Unscaled scores are saturated at the start. The scale stores nothing: it could be absorbed into the queries. A
    specification that sets `scale_scores` itself is unchanged.
    """
    chosen = trainable(spec)
    return chosen if "scale_scores" in chosen.model_fields_set else chosen.model_copy(update={"scale_scores": True})
