"""The native training engine: C++ source and, if a compiler was available, the library built from it.

`library_path` finds the library; `rote.training.native_engine` calls it.
"""

from __future__ import annotations

from pathlib import Path


def library_path() -> Path | None:
    """The path of the built library; None if the package was installed without a compiler."""
    here = Path(__file__).parent
    libraries = sorted(
        path for pattern in ("engine*.so", "engine*.dylib", "engine*.pyd") for path in here.glob(pattern)
    )
    return libraries[0] if libraries else None
