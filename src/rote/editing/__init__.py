"""Edits of built models: facts changed, added and forgotten, every other fact kept; and what differs between two."""

from rote.editing.diff import Difference, diff
from rote.editing.edit import Edited, edit

__all__ = ["Difference", "Edited", "diff", "edit"]
