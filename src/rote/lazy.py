"""Names of a package that are imported when they are first used, so that importing the package loads no tensors.

A package declares them once, to type checkers, and `lazy_names` reads the declarations when a name is first asked for:

    if TYPE_CHECKING:
        from rote.models.model import Model as Model

    __getattr__, __dir__ = lazy_names(__name__)

`__all__` is one of these names. Nothing is imported here: this is loaded before signals are taken over.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PATTERN = r"^    from ([\w.]+) import (\w+) as \2$"
"""A declaration."""


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package with the names that its source declares."""
    found: dict[str, str] = {}

    def where() -> dict[str, str]:
        if not found:
            found.update(_declared(package))
        return found

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(public for public in where() if not public.startswith("_"))
        if name not in where():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(where()[name]), name)

    return get, lambda: sorted(where())


def _declared(package: str) -> dict[str, str]:
    """Names that the source of a package declares, and the modules that they are in."""
    import re
    from importlib.util import find_spec

    spec = find_spec(package)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(package)
    if source is None:
        raise ImportError(f"{package}: its source is not here, and its names are declared there")
    return {name: module for module, name in re.findall(PATTERN, source, re.MULTILINE)}
