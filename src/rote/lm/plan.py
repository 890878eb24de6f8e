"""Which LoRA rank holds a table: bits that are new to a language model, against what adapters of each rank can hold.

    new bits = sum over facts of -log2 p(answer | prompt), under the template that knows the fact best

A LoRA of rank r on a matrix d_out x d_in has r (d_in + d_out) numbers; r^2 of them change nothing, since B A = (B M)
(M^-1 A) for every invertible M. New bits per remaining parameter are compared with measured capacities: 2 bits per
parameter after 1,000 exposures of each fact (Allen-Zhu and Li 2024), 3.6 on random strings (Morris et al. 2025). Both
were measured by training all weights; no such figure for LoRA parameters was found.

The guarantee: a rank-r update of one down-projection stores at least r answer tokens whose keys, the inputs of that
matrix, are linearly independent. The update that gives r such keys any outputs is a sum of r outer products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rote.arguments import typed
from rote.display import html_rows
from rote.errors import InputError
from rote.lm.any_model import recall
from rote.lm.language_model import LanguageModel
from rote.lm.lora import Modules, effective_parameters, matrices_of
from rote.progress import SILENT, Progress
from rote.tasks.facts import Facts

RANKS = (1, 2, 4, 8, 16, 32, 64)
ENOUGH, MOST = 2.0, 3.6
"""Measured bits per parameter: after 1,000 exposures, and the most of random strings."""
AMPLE = 0.1
"""Share of `ENOUGH` below which capacity is not the question."""
Verdict = Literal["ample", "room", "close", "cannot hold"]


@dataclass(frozen=True)
class LoraRank:
    """Adapters of one rank on the chosen matrices."""

    rank: int
    parameters: int
    """All numbers of A and B."""
    effective: int
    """Without the r^2 of each matrix that change nothing."""
    bits_per_parameter: float
    """New bits over effective parameters."""
    guaranteed: int
    """Answer tokens with independent keys that a rank-r update of one down-projection stores in closed form."""
    verdict: Verdict


@dataclass(frozen=True)
class LoraPlan:
    """What a table asks of a LoRA."""

    model: str
    facts: int
    known: int
    """Facts that the model answers already, under some template."""
    new_bits: float
    modules: Modules
    matrices: int
    ranks: tuple[LoraRank, ...]

    @property
    def smallest(self) -> LoraRank | None:
        """The smallest rank with room at 2 bits per parameter."""
        return next((rank for rank in self.ranks if rank.verdict in ("ample", "room")), None)

    @property
    def advice(self) -> str:
        """The conclusion in one or two sentences."""
        fits = self.smallest
        if fits is None:
            last = self.ranks[-1]
            return (
                f"rank {last.rank} would have to hold {last.bits_per_parameter:.2g} bits per parameter, more than the "
                f"{ENOUGH:g} measured after 1,000 exposures; raise the rank or adapt more matrices"
            )
        if fits.bits_per_parameter < AMPLE * ENOUGH:
            return (
                f"rank {fits.rank} uses {fits.bits_per_parameter / ENOUGH:.2%} of the measured capacity. If a "
                "fine-tuned model misses facts, it was trained too briefly: show every fact hundreds of times before "
                "raising the rank"
            )
        return f"rank {fits.rank} is the smallest with room; expect to show every fact about 1,000 times"

    def summary(self) -> dict[str, Any]:
        return asdict(self) | {"advice": self.advice}

    def _repr_html_(self) -> str:
        rows = [[r.rank, r.parameters, r.bits_per_parameter, r.guaranteed, r.verdict] for r in self.ranks]
        columns = ["rank", "parameters", "new bits per parameter", "guaranteed tokens", "verdict"]
        return html_rows(f"{self.model}: {self.advice}", columns, rows)


@typed
def lm_plan(
    model: LanguageModel,
    facts: Facts,
    templates: Sequence[str] = (),
    *,
    modules: Modules = "all",
    ranks: Sequence[int] = RANKS,
    relation: str | None = None,
    batch: int = 64,
    progress: Progress = SILENT,
) -> LoraPlan:
    """How many bits of a table are new to a language model, and which LoRA ranks have room for them.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> rote.lm_plan(rote.load_language_model(folder), "countries", ranks=[0])
    Traceback (most recent call last):
    rote.errors.InputError: `ranks`: 0 is not a rank; give whole numbers from 1
    """
    wrong = [rank for rank in ranks if rank < 1]
    if wrong or not ranks:
        raise InputError(f"`ranks`: {wrong[0] if wrong else 'none'} is not a rank; give whole numbers from 1")
    model.need_causal("a plan for LoRA")
    shapes = matrices_of(model.module, modules)
    if not shapes:
        raise InputError(f"{model.name}: {type(model.module).__name__} has no matrices named as {modules!r} ones are")
    asked = recall(model, facts, templates, relation=relation, batch=batch, progress=progress)
    best: dict[int, float] = {}
    known: set[int] = set()
    for reply in asked.replies:
        best[reply.row] = max(best.get(reply.row, -float("inf")), reply.log2_probability)
        if reply.whole_answer:
            known.add(reply.row)
    bits = -sum(best.values())
    widest = max(map(min, matrices_of(model.module, "down").values()), default=0)
    return LoraPlan(
        model.name, len(best), len(known), bits, modules, len(shapes),
        tuple(_rank(rank, list(shapes.values()), bits, widest) for rank in sorted(set(ranks))),
    )  # fmt: skip


def _rank(rank: int, shapes: Sequence[tuple[int, int]], bits: float, widest: int) -> LoraRank:
    every = sum(rank * sum(shape) for shape in shapes)
    effective = effective_parameters(list(shapes), rank)
    density = bits / effective
    return LoraRank(rank, every, effective, density, min(rank, widest), verdict_of(density))


def verdict_of(bits_per_parameter: float) -> Verdict:
    """Whether adapters have room for so many new bits per parameter."""
    if bits_per_parameter > MOST:
        return "cannot hold"
    if bits_per_parameter > ENOUGH:
        return "close"
    return "ample" if bits_per_parameter < AMPLE * ENOUGH else "room"
