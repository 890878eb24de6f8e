"""How models of each architecture run: one record per architecture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from rote.errors import InputError
from rote.models.spec import Spec

Tap = Callable[[str, Tensor], Tensor]
"""Hook on activations: receives each by name, returns the one to go on with. `layers.0.attention` are the patterns of
a layer (batch x heads x position x context), `layers.0.stream` the residual stream after it (batch x position x dim).
"""


@dataclass(frozen=True)
class Architecture:
    """A specification's class and its forward pass."""

    spec: type[Spec]
    logits: Callable[[Any, dict[str, Tensor], Any], Tensor]
    """Logits (or outputs) of inputs, given a specification and its tensors by name."""
    stream: Callable[[Any, dict[str, Tensor], Any, Tap | None], Tensor] | None = None
    """The residual stream at the last position, which the tensor `unembed` reads, where there is one. It passes the
    patterns and the stream of every layer through a `Tap`."""
    parts: Callable[[Any, dict[str, Tensor], Any], Iterator[Tensor]] | None = None
    """The same logits in order, for as many inputs at a time as stay in the cache, where there is no such stream."""


FORWARD: dict[str, Architecture] = {}
"""Every architecture by its name, registered when `rote.models.forward` is imported."""


def register_architecture(architecture: Architecture) -> Architecture:
    """Make models of an architecture run: ask, save, load, measure."""
    name = architecture.spec.architecture
    if name in FORWARD:
        raise InputError(f"architecture {name}: this name is registered already; give another")
    FORWARD[name] = architecture
    return architecture


def architecture_of(spec: Spec) -> Architecture:
    """The record of a specification's architecture."""
    if spec.architecture not in FORWARD:
        raise RuntimeError(f"architecture {spec.architecture} has no forward pass; register one")
    return FORWARD[spec.architecture]
