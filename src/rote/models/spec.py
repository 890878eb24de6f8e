"""What every architecture has: a frozen specification, the shapes of its tensors, an audited parameter count.

Specifications import no tensor library: bounds and plans work on them alone. The forward pass of an architecture is
the file of the same name under `rote.models.forward`.

Memory budgets of work that is done a few rows at a time, in one place.

Results do not depend on them, except for the rounding of sums.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, ValidationError

from rote.errors import InputError, cut, details_of, problems, validation_problems

FORWARD_FLOATS = 2**27
"""Of a forward pass: 512 MiB in float32. With less, models with many answers would be run on so few contexts at once
that tables over their tokens do not pay, at up to ten times the cost."""

SOLVE_FLOATS = 2**23
"""Of a float64 solve or fit that is repeated many times: 64 MiB, little beside its data."""

FIT_FLOATS = 2**22
"""Of a fit in float32 or of a training step: 16 MiB, so that many facts with many answers fit, and fit the cache."""

CACHED_FLOATS = 2**20
"""Of one tensor that several passes go over in turn: 8 MiB in float64, so that it stays near the cache."""


def rows_within(floats: int, floats_per_row: int) -> int:
    """Rows that may be held at once; one at least."""
    return max(1, floats // floats_per_row)


Count = Annotated[int, Field(ge=1, le=2**40)]
"""A size: at least one, and small enough that products of a few sizes cannot overflow."""

CountOrZero = Annotated[int, Field(ge=0, le=2**40)]
"""A size that may be zero."""

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
"""Float dtypes that weights are saved in, by name."""

MOST_PARAMETERS = 2**45
"""Larger specifications are rejected as typing errors: 2^45 float32 numbers are 128 TiB."""

ARCHITECTURES: dict[str, type[Spec]] = {}


class Spec(BaseModel, ABC, frozen=True, extra="forbid"):
    """A frozen description of one architecture: `class Mine(Spec, frozen=True)`.

    Subclasses name their `architecture`, give `shapes()` (every float tensor), `parameters()` (a closed formula that
    the tests compare with the tensors) and `floats_per_input()`, and may reject combinations of sizes that make no
    sense in `refusals()`. A class without a name of its own is a base class for several architectures.
    """

    architecture: ClassVar[str]
    """Name in `config.json` and on the command line."""

    vocab: Count | None
    """Tokens N that a model reads and answers with; None where it reads vectors and has no tokens."""
    context: Count
    """Tokens (or vectors) S of one input."""
    dim: Count | None
    """Length d of the vectors that a model works with; None where it works with single numbers."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "architecture" in cls.__dict__:
            ARCHITECTURES[cls.architecture] = cls

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            given = [name for name, field in type(self).model_fields.items() if not field.exclude]
            raise problems(self.architecture, validation_problems(details_of(error), given)) from None
        refused = self.refusals()
        if not refused and self.parameters() > MOST_PARAMETERS:
            refused = [f"{self.parameters():.3g} parameters cannot be held anywhere; check the sizes"]
        if refused:
            raise problems(self.architecture, refused)

    def refusals(self) -> list[str]:
        """Why this combination of sizes makes no sense; empty when it does."""
        return []

    @property
    def reads(self) -> Literal["tokens", "vectors"]:
        """Token ids (batch x context), or pairs of contexts (batch x context x dim) and queries (batch x dim).

        An architecture that can read either says which in a field `input`.
        """
        return "vectors" if getattr(self, "input", None) == "vectors" else "tokens"

    def refuse_dtype(self, dtype: str) -> list[str]:
        """Why weights of this dtype would be wrong; empty for nearly every architecture."""
        return []

    @property
    def answers(self) -> int | None:
        """Answers that a model chooses from: its tokens, or its classes; None for real targets."""
        return self.vocab

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter tensor."""

    def index_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every integer tensor: look-up structure that is stored but is not a parameter."""
        return {}

    def head_axes(self) -> dict[str, int]:
        """For each tensor with one slice per head, its head axis: permuting heads must change nothing."""
        return {}

    @abstractmethod
    def parameters(self) -> int:
        """Number of parameters, by formula."""

    @abstractmethod
    def floats_per_input(self) -> int:
        """Numbers that a forward pass holds per input, so that measures can choose how many to stream at once."""

    def floats_held(self, inputs: int) -> int:
        """Numbers that a forward pass over so many inputs holds at once."""
        return inputs * self.floats_per_input()

    def to_config(self) -> dict[str, Any]:
        return {"architecture": self.architecture, **self.model_dump(mode="json")}


def spec_from_config(config: Any, where: str) -> Spec:
    """The specification that `to_config` wrote; `where` names the file in messages."""
    if not isinstance(config, dict) or "architecture" not in config:
        raise InputError(f"{where}: no specification with an `architecture` in it; is this a rote model folder?")
    name = config["architecture"]
    if not isinstance(name, str) or name not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise InputError(f"{where}: unknown architecture {cut(repr(name))}; this version knows {known}")
    values = {key: value for key, value in config.items() if key != "architecture"}
    return ARCHITECTURES[name](**values)


def in_words(spec: Spec) -> str:
    """An architecture and the sizes that were chosen, not those the task gives."""
    given = {"architecture", "vocab", "context", "contexts", "inputs", "outputs"}
    sizes = spec.model_dump(mode="json", exclude=given, exclude_defaults=True)
    return f"{spec.architecture}, " + ", ".join(f"{name} {value}" for name, value in sizes.items())


def size_of(shapes: dict[str, tuple[int, ...]]) -> int:
    """Numbers in tensors of these shapes."""
    return sum(math.prod(shape) for shape in shapes.values())
