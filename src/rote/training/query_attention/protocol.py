"""Protocols for vector tasks: `paper` is the released schedule, `fast` reaches at least as much in far fewer steps,
`best` trains four times as long as `fast`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rote.errors import InputError, details_of, problems
from rote.models.spec import Count
from rote.tasks import VectorTask
from rote.training.protocol import NAMES, Rate, Share

STEPS = 1200
"""Of `fast` by descent: 300 epochs of four batches, more of fewer where there are less than 256 examples."""
PROJECTIONS = 250
"""Steps of `fast` by variable projection."""
LONGER = 4
"""Times as many steps in `best`."""


class VectorProtocol(BaseModel):
    """Everything that determines training besides the task, the specification and the seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    method: Literal["descent", "projection"]
    """`projection` (variable projection) solves the readout at every step and trains the rest; it takes one target."""
    steps: Count
    batch: Count | None = None
    """Examples per step. Default: all of them."""
    optimizer: Literal["adam", "muon"] = "muon"
    peak: Rate = 5e-3
    """Learning rate of Adam."""
    muon_peak: Rate = 6e-3
    """Learning rate of W_Q and W_K under `optimizer=muon`."""
    warmup: Share = 0.05
    beta2: Share = 0.99
    standardise: bool = True
    """Train in coordinates of mean zero and variance one (see `Coordinates`); the returned model reads raw ones."""
    check: Count
    """Steps between two evaluations on all examples. The best weights seen are kept."""
    stop: bool = True
    """End training by descent when every label is right."""
    ridge: Annotated[float, Field(ge=0)] = 1e-6
    """Of the readout's least squares, relative to the number of examples; only for `projection`."""

    def changed(self, **changes: Any) -> VectorProtocol:
        return _protocol(self.model_dump() | changes) if changes else self


def paper(examples: int, **changes: Any) -> VectorProtocol:
    """As released: Adam at 1e-3, batches of 256, 500 epochs or 50,000 steps if more, cosine after a warm-up of 5 %."""
    values = {
        "name": "paper", "method": "descent", "steps": max(500 * examples // 256, 50_000), "batch": 256,
        "optimizer": "adam", "peak": 1e-3, "beta2": 0.999, "standardise": False, "check": 500,
    }  # fmt: skip
    return _protocol(values | changes)


def fast(examples: int, targets: int | None, **changes: Any) -> VectorProtocol:
    """Muon on W_Q and W_K with Adam on the rest, batches of a quarter of the examples; variable projection for one
    real target."""
    if targets == 1:
        values = {"name": "fast", "method": "projection", "steps": PROJECTIONS, "muon_peak": 3e-2, "check": 25}
    else:
        batch = min(examples, max(64, examples // 4))
        values = {"name": "fast", "method": "descent", "steps": STEPS, "batch": batch, "check": 40}
    return _protocol(values | changes)


def best(examples: int, targets: int | None, **changes: Any) -> VectorProtocol:
    """As `fast`, four times as long."""
    longer = fast(examples, targets)
    return _protocol(longer.model_dump() | {"name": "best", "steps": LONGER * longer.steps} | changes)


def vector_protocol(name: str, task: VectorTask, **changes: Any) -> VectorProtocol:
    """A protocol by name, fitted to a task, with fields changed."""
    return protocol_for(name, task.facts, None if task.targets is None else task.outputs, **changes)


def protocol_for(name: str, examples: int, targets: int | None, **changes: Any) -> VectorProtocol:
    """A protocol by name for a number of examples, for classification (`targets=None`) or regression."""
    if name == "paper":
        return paper(examples, **changes)
    if name == "fast":
        return fast(examples, targets, **changes)
    if name == "best":
        return best(examples, targets, **changes)
    raise InputError(f"protocol: {name!r} is not one of {', '.join(NAMES)}")


def _protocol(values: dict[str, Any]) -> VectorProtocol:
    try:
        return VectorProtocol(**values)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details_of(error)]
        raise problems(f"protocol {values['name']}", found) from None
