"""A DataFrame of any library, by what it can do."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Frame(Protocol):
    """Named columns that can be taken out by name: a polars or pandas DataFrame, or one like them."""

    @property
    def columns(self) -> Any: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, name: Any, /) -> Any: ...
