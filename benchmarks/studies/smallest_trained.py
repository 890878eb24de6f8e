"""The smallest attention-only model that training makes recall a whole table: the fewest heads, at a chosen dimension.

Shapes of one budget of parameters, one for each dimension, are trained for a few steps, and the one that recalls most
goes on; its number of heads is then searched. All of this happens on one seed. What is reported are models of fresh
seeds, trained from the fewest heads of the search upwards until one of them recalls every fact.

Every try is kept in a ledger, and so are the models of fresh seeds: an interrupted search resumes. As with
capacities, the boundary is not sharp: longer training, or more seeds, may do with fewer heads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.arguments import typed
from rote.errors import CheckFailed, InputError, problems
from rote.experiments.best_of_seeds import KeptSeeds, train_best
from rote.experiments.densest import bits_record, candidates
from rote.experiments.files import write_json
from rote.experiments.runner import run
from rote.experiments.token_schedule import TokenSchedule
from rote.experiments.trial import TokenTrial
from rote.models.attention_only import AttentionOnly
from rote.progress import SILENT, Progress
from rote.tasks import AssociationTask, require_associations
from rote.tasks.facts import Facts, facts
from rote.training.train import protocol_of

SEARCH_SEED = 100
"""Of the models by which settings are chosen; the reported ones have seeds 0, 1, ..."""


@dataclass(frozen=True)
class TrainedTry:
    """One model of the search."""

    spec: AttentionOnly
    steps: int
    batch: int
    """Contexts of a step."""
    recalled: int
    facts: int
    seconds: float
    """Processor time of its training."""

    @property
    def complete(self) -> bool:
        return self.recalled == self.facts


@dataclass(frozen=True)
class SmallestTrained:
    """What the search ended in."""

    dims: tuple[TrainedTry, ...]
    """Shapes of one budget after a few steps each, the one that recalls most first; none where one was given."""
    tries: tuple[TrainedTry, ...]
    """Numbers of heads, in the order in which they were tried."""
    fresh: tuple[dict[str, Any], ...]
    """What `rote.train_best` says of the fresh seeds, for one number of heads after the other."""
    folder: Path | None
    """Model folder of the smallest model of a fresh seed that recalls every fact; nothing where none does."""

    @property
    def summary(self) -> dict[str, Any] | None:
        """What `rote.train_best` says of the smallest whole model and of the other seeds of its size."""
        return None if self.folder is None else self.fresh[-1]

    @property
    def closest(self) -> TrainedTry:
        """The smallest whole model of the search, or the one that recalls most where none is whole."""
        return min(self.tries, key=lambda tried: (-tried.recalled, tried.spec.heads))

    @property
    def spec(self) -> AttentionOnly:
        """The shape of the smallest whole model, or of the one that recalls most."""
        return self.closest.spec if self.summary is None else AttentionOnly.model_validate(_sizes(self.summary["spec"]))

    @property
    def seconds(self) -> float:
        """Processor time of all training."""
        fresh = sum(model["cpu_seconds"] for summary in self.fresh for model in summary["models"])
        return fresh + sum(tried.seconds for tried in (*self.dims, *self.tries))


@typed
def smallest_trained(
    task: Facts,
    folder: str | Path,
    *,
    parameters: int,
    dims: Sequence[int],
    head_dim: int = 2,
    short: int = 300,
    tolerance: float = 0.03,
    tries: int = 12,
    seeds: int = 2,
    workers: int | None = None,
    progress: Progress = SILENT,
    **changes: Any,
) -> SmallestTrained:
    """Search the fewest heads of `head_dim` with which training recalls every fact of the task.

    Dimensions `dims` are compared at about `parameters` parameters after `short` steps; the search for heads starts
    there, ends when heads that do and heads that do not differ by a share `tolerance`, and tries at most `tries`
    numbers of heads; so many are then tried at most with fresh `seeds`, a share `tolerance` apart. `changes` are
    fields of the protocol `best` (`steps=4000`, `polish=300`).

    >>> import rote, tempfile
    >>> from studies.smallest_trained import smallest_trained
    >>> task = rote.facts("random:vocab=6,context=2,facts=9,seed=1")
    >>> search = smallest_trained(task, tempfile.mkdtemp(), parameters=100, dims=[3], seeds=1, steps=200, polish=0)
    >>> search.summary["recalled"]
    9
    """
    table = require_associations(facts(task), "a search for whole recall takes associations")
    _check(table, short, tolerance, tries, seeds)
    folder = Path(folder)
    shapes = candidates(parameters, vocabs=[table.vocab], dims=dims, head_dims=[head_dim], context=table.context)
    identity = {"search": "smallest trained", "facts": table.fingerprint}

    def trained(spec: AttentionOnly, **cut: Any) -> TrainedTry:
        protocol = protocol_of("best", spec, table, **{**changes, **cut})
        trial = TokenTrial(spec, protocol, SEARCH_SEED)
        plan = TokenSchedule(identity, [trial], lambda trial: table, bits_record)
        ended = run(plan, folder / "search", workers=workers, progress=progress)
        if ended.failed:
            raise CheckFailed(f"training failed: {ended.failed[0].reason}")
        result = ended.rows[trial.key].result
        recalled = round((result["accuracy"] or 0.0) * table.facts)
        batch = protocol.batch or table.facts
        return TrainedTry(spec, protocol.steps, batch, recalled, table.facts, result["seconds"])

    compared: list[TrainedTry] = []
    if len(shapes) > 1:
        compared = sorted((trained(spec, steps=short, polish=0) for spec in shapes), key=lambda tried: -tried.recalled)
        shapes = [compared[0].spec]
    tried: list[TrainedTry] = []

    def whole(heads: int) -> bool:
        tried.append(trained(shapes[0].model_copy(update={"heads": heads})))
        return tried[-1].complete

    heads, fresh, path = fewest(whole, shapes[0].heads, tolerance, tries), [], None
    while heads is not None and path is None and len(fresh) < tries:
        folder_of_heads = folder / f"heads-{heads}"
        spec = shapes[0].model_copy(update={"heads": heads})
        fresh.append(_fresh(table, spec, folder_of_heads, seeds, workers, progress, changes))
        if fresh[-1]["recalled"] == table.facts:
            path = folder_of_heads
        heads = _up(heads, tolerance)
    return SmallestTrained(tuple(compared), tuple(tried), tuple(fresh), path)


def fewest(whole: Callable[[int], bool], start: int, tolerance: float, tries: int) -> int | None:
    """The fewest heads for which `whole` holds; nothing where it holds for none of at most `tries` numbers.

    From `start` the number changes by quarters until a success lies above a failure; the gap is then bisected until it
    is at most a share `tolerance` of the success.
    """
    low, high, heads = 0, None, start
    for _ in range(tries):
        if whole(heads):
            high = heads
        else:
            low = heads
        if high is not None and high - low <= max(1, tolerance * high):
            break
        if high is None:
            heads = _up(low, 0.25)
        elif low:
            heads = (low + high) // 2
        else:
            heads = high - max(1, high // 4)
    return high


def _up(heads: int, share: float) -> int:
    return heads + max(1, round(share * heads))


def _fresh(
    table: AssociationTask,
    spec: AttentionOnly,
    path: Path,
    seeds: int,
    workers: int | None,
    progress: Progress,
    changes: dict[str, Any],
) -> dict[str, Any]:
    """Train the reported seeds, keep the best as a model folder and what was seen of all of them beside it."""
    document = path.with_suffix(".json")
    protocol = protocol_of("best", spec, table, **changes).model_dump(mode="json")
    if not (path.exists() and document.exists()):
        best = train_best(
            table, spec, seeds, "best", workers=workers, keep=KeptSeeds.beside(path), progress=progress, **changes
        )
        write_json(document, best.summary())
        best.save(path, overwrite=True)
    summary = json.loads(document.read_text(encoding="utf-8"))
    if summary["protocol"] != protocol or len(summary["models"]) != seeds or summary["spec"]["dim"] != spec.dim:
        raise InputError(
            f"{path}: was trained by another protocol, with another dimension or number of seeds; "
            "remove it, or choose another `folder`"
        )
    return summary


def _sizes(config: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name != "architecture"}


def _check(table: AssociationTask, short: int, tolerance: float, tries: int, seeds: int) -> None:
    refused = [
        f"`{name}={value}`: must be at least 1"
        for name, value in (("short", short), ("tries", tries), ("seeds", seeds))
        if value < 1
    ]
    if not 0 <= tolerance < 1:
        refused.append(f"`tolerance={tolerance}`: must be at least 0 and less than 1")
    if refused:
        raise problems("search", refused)
    if table.ceiling < 1:
        raise InputError(
            f"the facts contradict one another: no model recalls more than {table.ceiling:.2%} of them. "
            "Give each key one answer (`contradictions=majority`)"
        )
