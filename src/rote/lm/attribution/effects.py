"""Effects of every component on a batch of prompts: direct logit attribution, ablation, activation patching.

- *Direct logit attribution*: what a component adds to the logit of the answer minus that of the runner-up, with the
  scale of the final norm frozen. Contributions of all heads, all MLPs, the embedding and the constants sum to that
  difference.
- *Zero-ablation* and *mean-ablation*: the component's output is replaced by zeros, or by its mean over the facts of the
  relation at the same word. What is left is the answer's logit minus the largest other one.
- *Activation patching*: in a run on another subject of the same relation, the component's output is replaced by the one
  it had on this subject. What is restored of the difference between both answers is 0 if nothing, 1 if all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rote.errors import InputError
from rote.lm.attribution.components import (
    Components,
    LmComponent,
    Recording,
    Replacement,
    recording,
    replacing_components,
    starting_at,
)
from rote.lm.attribution.norms import through_norm
from rote.lm.attribution.paths import ThroughHeads, through_heads
from rote.lm.attribution.prompts import PromptBatch, Prompts
from rote.measure.recall import margins

Effect = Literal["zero", "mean", "patch"]
EFFECTS: tuple[Effect, ...] = ("zero", "mean", "patch")
Control = Literal["said", "shuffled"]
CONTROLS: tuple[Control, ...] = ("said", "shuffled")
"""Other tokens whose margin is measured under mean-ablation: the model's own answer, another fact's answer."""
TOLERANCE = 1e-2
"""Largest share of the logits that contributions may miss; a model of another shape misses far more."""


@dataclass(frozen=True, eq=False)
class Means:
    """Mean output of each component at each role, over the prompts of one relation."""

    values: Float[Tensor, "layers roles heads head_dim"]
    mlps: Float[Tensor, "layers roles dim"]

    def at(self, component: LmComponent) -> Float[Tensor, "roles size"]:
        layer, head = component
        return self.mlps[layer] if head is None else self.values[layer][:, head]


@dataclass(frozen=True, eq=False)
class BatchEffects:
    """Arrays with one row per fact. A layer's components are its heads, then its MLP."""

    tokens: np.ndarray
    """The answer's first token, and the runner-up."""
    logits: np.ndarray
    """Logits of both."""
    direct: np.ndarray
    """Direct logit attribution (facts x layers x components)."""
    embedding: np.ndarray
    constant: np.ndarray
    through: ThroughHeads | None
    """What heads add, by what they read."""
    attention: np.ndarray
    """From the last token of each head to: words before the subject, subject, words after it, itself."""
    left: dict[Effect, np.ndarray]
    """For `zero` and `mean` the logit margin after ablation, for `patch` the share that is restored."""
    controls: dict[Control, np.ndarray]
    """Margin of another token that each component's mean-ablation costs; none without that ablation."""


def run_batch(
    parts: Components,
    prompts: Prompts,
    batch: PromptBatch,
    answers: Int[Tensor, " rows"],
    means: Means | None,
    effects: Sequence[Effect],
    advance: Callable[[], None],
) -> BatchEffects:
    """Everything about one batch of prompts."""
    model = parts.model
    with torch.inference_mode():
        with recording(parts) as seen:
            logits = prompts.run(model, batch.tokens)
        if not bool(torch.isfinite(logits).all()):
            raise InputError(f"{model.name}: its logits are not finite; try another `dtype`, or check the weights")
        runners_up = logits.scatter(1, answers[:, None], -torch.inf).argmax(1)
        both = torch.stack([answers, runners_up], 1)
        unembedding = parts.unembedding.get_parameter("weight")
        along = (unembedding[answers] - unembedding[runners_up]).double()
        direct, embedding, constant, through = direct_attribution(parts, seen, along)
        bias = getattr(parts.unembedding, "bias", None)
        if bias is not None:
            constant = constant + (bias[answers] - bias[runners_up]).double().cpu().numpy()
        chosen = logits.gather(1, both)
        _check_sum(parts, direct, embedding, constant, chosen)
        left: dict[Effect, np.ndarray] = {}
        controls: dict[Control, np.ndarray] = {}
        for effect in effects:
            if effect == "patch":
                left[effect] = _patched(parts, prompts, batch, seen, logits, answers, advance)
            elif effect == "zero":
                left[effect] = _ablated(parts, prompts, batch, seen, [answers], None, advance)[0]
            else:
                others = {"said": logits.argmax(1), "shuffled": answers[partners(answers)]}
                left[effect], *rest = _ablated(
                    parts, prompts, batch, seen, [answers, *(others[name] for name in CONTROLS)], means, advance
                )
                controls = {
                    name: margins(logits, others[name]).double().cpu().numpy()[:, None, None] - after
                    for name, after in zip(CONTROLS, rest, strict=True)
                }
    return BatchEffects(
        both.cpu().numpy(), chosen.cpu().numpy(), direct, embedding, constant, through,
        _attention(parts, prompts, batch, seen), left, controls,
    )  # fmt: skip


def direct_attribution(
    parts: Components, seen: Recording, along: Float[Tensor, "rows dim"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, ThroughHeads | None]:
    """Contributions along a direction of the unembedding, such as the answer's minus the runner-up's: of components, of
    the embedding, of the constants; and those of heads by what they read."""
    if seen.final is None:
        raise InputError(f"{parts.model.name}: its final norm was not run; inspect reads Llama-type models and GPT-2")
    read, constant = through_norm(parts.norm, seen.final[:, -1].double(), along)
    rows, layers = len(along), len(parts.layers)
    direct = torch.zeros(rows, layers, parts.heads + 1, dtype=torch.float64, device=read.device)
    for layer in range(layers):
        outward = parts.outward(layer).double()
        direct[:, layer, :-1] = torch.einsum("rhk,hkd,rd->rh", seen.values[layer][:, -1].double(), outward, read)
        direct[:, layer, -1] = (seen.mlps[layer][:, -1].double() * read).sum(1)
        for added in parts.constants(layer):
            constant = constant + read @ added.double()
    embedding = (seen.inputs[0][:, -1].double() * read).sum(1)
    through = through_heads(parts, seen, read, direct[:, :, :-1])
    return direct.cpu().numpy(), embedding.cpu().numpy(), constant.cpu().numpy(), through


def _check_sum(
    parts: Components, direct: np.ndarray, embedding: np.ndarray, constant: np.ndarray, chosen: Tensor
) -> None:
    """Contributions must sum to the logits' difference, else the model is not of the shape that was assumed."""
    logits = chosen.double().cpu().numpy()
    wanted = logits[:, 0] - logits[:, 1]
    found = direct.sum((1, 2)) + embedding + constant
    scale = np.abs(logits).max() + np.abs(direct).max() + np.abs(embedding).max()
    if np.abs(found - wanted).max() > TOLERANCE * scale:
        raise InputError(
            f"{parts.model.name}: the contributions of its heads and MLPs do not sum to its logits (they miss by "
            f"{np.abs(found - wanted).max():.3g}), so it has further parts, such as norms after a layer's output; "
            "inspect reads Llama-type models and GPT-2"
        )


def role_means(parts: Components, prompts: Prompts, size: int) -> Means:
    """Mean output of each component at each role, over all prompts of the relation."""
    roles = prompts.roles
    counts = torch.zeros(roles, dtype=torch.float64)
    values: list[Tensor] = []
    mlps: list[Tensor] = []
    for batch in prompts.batches(range(len(prompts.questions.prompts)), size):
        with torch.inference_mode(), recording(parts) as seen:
            prompts.run(parts.model, batch.tokens)
        hot = nn.functional.one_hot(batch.roles, roles).double()
        counts += hot.sum(0) * len(batch.places)
        # Sums over rows, then over the positions of each role.
        added = [torch.einsum("thk,to->ohk", layer.double().sum(0).cpu(), hot) for layer in seen.values]
        wide = [torch.einsum("td,to->od", layer.double().sum(0).cpu(), hot) for layer in seen.mlps]
        values = [old + new for old, new in zip(values, added, strict=True)] if values else added
        mlps = [old + new for old, new in zip(mlps, wide, strict=True)] if mlps else wide
    share = counts.clamp(min=1)
    return Means(
        torch.stack(values) / share[None, :, None, None],
        torch.stack(mlps) / share[None, :, None],
    )


def _ablated(
    parts: Components, prompts: Prompts, batch: PromptBatch, seen: Recording, targets: Sequence[Tensor],
    means: Means | None, advance: Callable[[], None],
) -> list[np.ndarray]:  # fmt: skip
    """Logit margins of some tokens per fact, with each component replaced by its mean, or by zero."""

    def replaced(component: LmComponent) -> Tensor:
        return torch.zeros(()) if means is None else means.at(component)[batch.roles]

    def left(logits: Tensor) -> Tensor:
        return torch.stack([margins(logits, tokens) for tokens in targets], -1)

    found = _by_layer(parts, prompts, batch.tokens, seen.inputs, replaced, left, advance)
    return list(np.moveaxis(found, -1, 0))


def _patched(
    parts: Components, prompts: Prompts, batch: PromptBatch, seen: Recording, logits: Tensor, answers: Tensor,
    advance: Callable[[], None],
) -> np.ndarray:  # fmt: skip
    """Share of the difference between both answers that each component's clean output restores on another subject.

    Not a number where no other subject of this length has another answer.
    """
    other = partners(answers)
    inputs = [stream[other] for stream in seen.inputs]
    rows = torch.arange(len(answers))

    def difference(found: Tensor) -> Tensor:
        return (found[rows, answers] - found[rows, answers[other]])[:, None]

    clean, corrupted = difference(logits), difference(logits[other])
    patched = _by_layer(parts, prompts, batch.tokens[other], inputs, seen.output, difference, advance)[..., 0]
    apart = (clean - corrupted).double().cpu().numpy()[:, 0]
    alone = (answers == answers[other]).cpu().numpy()
    apart[alone | (np.abs(apart) < 1e-6)] = np.nan
    return (patched - corrupted.double().cpu().numpy()[:, :, None]) / apart[:, None, None]


def partners(answers: Int[Tensor, " rows"]) -> Int[Tensor, " rows"]:
    """For each row the next one, in a circle, with another answer; the row itself where there is none."""
    count = len(answers)
    found = []
    for row, answer in enumerate(answers.tolist()):
        around = ((row + step) % count for step in range(1, count))
        found.append(next((place for place in around if int(answers[place]) != answer), row))
    return torch.tensor(found)


def _by_layer(
    parts: Components,
    prompts: Prompts,
    tokens: Int[Tensor, "rows tokens"],
    inputs: Sequence[Tensor],
    replaced: Callable[[LmComponent], Tensor],
    measured: Callable[[Tensor], Tensor],
    advance: Callable[[], None],
) -> np.ndarray:
    """Run the model once per layer with one copy of the batch per component, each with that component replaced.

    What is measured of each row has some columns: the result is rows x layers x components x columns.

    Layers before the one that is changed would give what they gave, so the run starts there.
    """
    rows, copies = len(tokens), parts.heads + 1
    left: np.ndarray | None = None
    for layer in range(len(parts.layers)):
        changes = [
            Replacement(component, replaced(component), slice(number * rows, (number + 1) * rows))
            for number, component in enumerate(LmComponent(layer, head) for head in (*range(parts.heads), None))
        ]
        stream = inputs[layer].repeat(copies, 1, 1)
        with starting_at(parts, layer, stream), replacing_components(parts, changes):
            logits = prompts.run(parts.model, tokens.repeat(copies, 1))
        for number, part in enumerate(logits.split(rows)):
            found = measured(part).double().cpu().numpy()
            left = np.empty((rows, len(parts.layers), copies, found.shape[1])) if left is None else left
            left[:, layer, number] = found
        advance()
    return np.empty((rows, 0, copies, 1)) if left is None else left


def _attention(parts: Components, prompts: Prompts, batch: PromptBatch, seen: Recording) -> np.ndarray:
    """What each head's last token attends to, by role (facts x layers x heads x 4); empty where it is not given."""
    if len(seen.attention) != len(parts.layers):
        return np.full((len(batch.places), len(parts.layers), parts.heads, 4), np.nan)
    weights = torch.stack([layer[:, :, -1].float() for layer in seen.attention], 1).cpu()
    length = weights.shape[-1]
    end_of_subject = length - max(prompts.after, 1)
    bounds = (0, prompts.before, max(end_of_subject, prompts.before), length - 1, length)
    return np.stack([weights[..., low:high].sum(-1).numpy() for low, high in pairwise(bounds)], -1)
