"""The grid of a sweep: every combination of the given sizes, kinds of heads and protocols."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rote.errors import InputError, details_of, problems, validation_problems
from rote.models import AttentionOnly, MlpTransformer, Transformer
from rote.models.spec import Count
from rote.training.train import scores_scaled

RANGE = re.compile(r"(\d+):(\d+)(?::(\d+))?")
MOST = 10_000
"""Largest number of models in a grid; more is probably a typing error."""
MOST_COMBINATIONS = 1_000_000
"""Largest number of combinations examined, including those that make no model or an equal one."""


def values_of(given: Any) -> Any:
    """The values of a text or collection: `5`, `1,5,9`, `2:8` (8 included), `2:8:2`."""
    if isinstance(given, str):
        return tuple(itertools.chain.from_iterable(_part(part.strip()) for part in given.split(",")))
    if isinstance(given, range | set | frozenset | list):
        return tuple(given)
    return given if isinstance(given, tuple) or given is None else (given,)


def _part(text: str) -> list[int | str]:
    match = RANGE.fullmatch(text)
    if match is None:
        return [int(text) if text.isdecimal() else text]
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if step < 1 or last < first:
        raise ValueError(f"{text!r} is an empty range; write first:last or first:last:step, as in 2:8 or 2:8:2")
    if (last - first) // step >= MOST:
        raise ValueError(f"{text!r} has more than {MOST:,} values; give fewer values")
    return list(range(first, last + 1, step))


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


Sizes = Annotated[tuple[Count, ...], Field(min_length=1), BeforeValidator(values_of)]
Widths = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), BeforeValidator(values_of)]
Variants = Annotated[tuple[Literal["per-head", "shared"], ...], Field(min_length=1), BeforeValidator(values_of)]
Protocols = Annotated[tuple[Literal["fast", "paper", "best"], ...], Field(min_length=1), BeforeValidator(values_of)]


class Grid(BaseModel):
    """Values of every size; one model per combination.

    A value is a number, several (`"1,5,9"`, `[1, 5, 9]`) or a range whose end is included (`"2:8"`, `"2:8:2"`).
    Default of `head_dim`: `dim`, and vice versa. Combinations with `head_dim > dim` are left out: such heads carry
    nothing more. `width` adds an MLP after each layer; it requires the variant `per-head`.

    >>> import rote
    >>> grid = rote.Grid(vocab=30, context=3, dim=8, head_dim="2:8:2", heads="1,5,9")
    >>> grid.head_dim, grid.heads, len(grid.specs())
    ((2, 4, 6, 8), (1, 5, 9), 12)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    vocab: Sizes
    context: Sizes = (2,)
    dim: Sizes | None = None
    head_dim: Sizes | None = None
    heads: Sizes
    layers: Sizes = (1,)
    width: Widths | None = None
    variant: Variants = ("per-head",)
    protocol: Protocols = ("fast",)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise problems("grid", _sentences(error)) from None
        if min(self.vocab) < 2:
            raise InputError("grid: `vocab=1`: one token leaves nothing to distinguish; must be at least 2")
        if self.dim is None and self.head_dim is None:
            raise InputError("grid: `dim` is missing; give it, or `head_dim` for models in which both are equal")
        if self.width is not None and self.variant != ("per-head",):
            raise InputError(
                "grid: `variant=shared`: models with an MLP have per-head matrices; leave out `variant` or `width`"
            )

    @classmethod
    def of(cls, grid: Grid | Mapping[str, Any]) -> Grid:
        """A grid, or the one that a mapping describes."""
        return grid if isinstance(grid, Grid) else cls(**dict(grid))

    @property
    def swept(self) -> list[str]:
        """Names of the sizes that have several values, most values first."""
        several = {name: len(values) for name, values in self._given().items() if len(values) > 1}
        return sorted(several, key=lambda name: -several[name])

    @property
    def left_out(self) -> int:
        """Pairs of `dim` and `head_dim` in which the second exceeds the first."""
        return sum(k > d for d in self.dim or () for k in self.head_dim or ())

    def specs(self) -> list[Transformer]:
        """One specification per combination of sizes and variants, in the order of the values."""
        combinations = math.prod(len(values) for values in self._given().values())
        if combinations > MOST_COMBINATIONS:
            raise InputError(f"grid: {combinations:,} combinations are too many to examine; give fewer values")
        specs = list(dict.fromkeys(self._specs()))
        if not specs:
            raise InputError(
                f"grid: every `head_dim` ({min(self.head_dim or ())} or more) exceeds every `dim`: "
                "a head cannot carry more dimensions than it reads; lower `head_dim`"
            )
        if len(specs) > MOST:
            raise InputError(f"grid: {len(specs):,} models are more than {MOST:,}; give fewer values")
        return specs

    def _specs(self) -> Iterator[Transformer]:
        given = self._given()
        names = [name for name in given if name not in ("protocol", "variant")]
        for variant in given["variant"]:
            for combination in itertools.product(*(given[name] for name in names)):
                sizes = dict(zip(names, combination, strict=True))
                dim, head_dim = sizes.get("dim"), sizes.get("head_dim")
                sizes["dim"], sizes["head_dim"] = dim or head_dim, head_dim or dim
                if dim and head_dim and head_dim > dim:
                    continue
                plain = sizes["head_dim"] == sizes["dim"]  # there is nothing to compress
                kind = {} if plain or "width" in sizes else {"variant": variant}
                spec = MlpTransformer(**sizes) if "width" in sizes else AttentionOnly(**sizes, **kind)
                yield scores_scaled(spec)

    def _given(self) -> dict[str, tuple[Any, ...]]:
        return {name: _distinct(values) for name in type(self).model_fields if (values := getattr(self, name))}


def _sentences(error: ValidationError) -> list[str]:
    details = [{**detail, "loc": detail["loc"][:1]} for detail in details_of(error)]
    return list(dict.fromkeys(validation_problems(details, Grid.model_fields)))
