"""Edits by building again: the exact means of constructions that compute their weights at once from the table.

The vocabulary is that of the model, with new answers at its end. The seed and settings are those of the build, so that
what depends on other facts stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rote.constructions.construction import Construction, Draft, EditRequest, construction_named
from rote.errors import InputError


def rebuilt_by(id: str) -> Any:
    """The edit of the construction with this id."""

    def edit(request: EditRequest[Any]) -> Draft:
        refuse_erased(id, request)
        construction: Construction[Any, Any] = construction_named(id)
        draft = construction.build(replace(request.request, task=request.after))
        return replace(draft, measured={**draft.measured, "edit": "built again"})

    return edit


def refuse_erased(id: str, request: EditRequest[Any]) -> None:
    """Reject what needs logits near zero: these models always prefer some answer."""
    if any(change.forget == "erased" for change in request.changes):
        raise InputError(
            f"`forget_as=erased`: a model of {id} always prefers some answer, so no key can have logits near zero; "
            "leave it out to forget as never stored"
        )
