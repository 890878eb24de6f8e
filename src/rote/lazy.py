"""Names of a package that are imported when they are first used, so that importing the package loads no tensors.

A package declares them once, to type checkers, and `lazy_names` reads the declarations:

    if TYPE_CHECKING:
        from rote.models.model import Model as Model

    __all__, __getattr__, __dir__ = lazy_names(__name__)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

DECLARED = re.compile(r"^    from ([\w.]+) import (\w+) as \2$", re.MULTILINE)


def lazy_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package with the names that its source declares."""
    spec = find_spec(package)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(package)
    if source is None:
        raise ImportError(f"{package}: its source is not here, and its names are declared there")
    where = {name: module for module, name in DECLARED.findall(source)}

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(where[name]), name)

    return sorted(name for name in where if not name.startswith("_")), get, lambda: sorted(where)
