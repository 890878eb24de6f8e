"""The native training engine: C++ source and, where a compiler was at hand, the library built from it.

`library_path` finds the library; `rote.training.native_engine` speaks to it.
"""

from __future__ import annotations

from pathlib import Path


def library_path() -> Path | None:
    """The built library, or nothing where the package was installed without a compiler."""
    here = Path(__file__).parent
    libraries = sorted(
        path for pattern in ("engine*.so", "engine*.dylib", "engine*.pyd") for path in here.glob(pattern)
    )
    return libraries[0] if libraries else None
