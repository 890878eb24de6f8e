"""Builds the native training engine where there is a C++ compiler; without one the package works all the same.

The engine's source is compiled once per vector width, each with its own flags; the width is chosen when it runs.
Two variables of the environment are for `tools/sanitize.py` alone: ROTE_ENGINE_FLAGS are flags for compiler and linker,
and the widths in ROTE_PORTABLE are compiled without instructions of their own, so that they run on every processor.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCE = "src/rote/training/native"
COMMON = [
    "-std=c++17",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-g0",
]
MORE = os.environ.get("ROTE_ENGINE_FLAGS", "").split()
PORTABLE = [int(lanes) for lanes in os.environ.get("ROTE_PORTABLE", "").split()]
WIDE = {
    8: ["-mavx2", "-mfma"],
    # GCC's own header of AVX-512 intrinsics starts from an undefined vector on purpose and is warned about it.
    16: ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mfma", "-mprefer-vector-width=512", "-Wno-maybe-uninitialized"],
}


class BuildEngine(build_ext):
    """Compiles `engine.cpp` per vector width and links all into one library with a C interface."""

    def build_extension(self, ext: Extension) -> None:
        wide = WIDE if platform.machine() in ("x86_64", "AMD64") else {}
        # The narrowest comes first: a linker keeps the first copy of a function that several objects share, and that
        # copy must run on every processor.
        objects = []
        for lanes, flags in ({4: []} | wide).items():
            objects += self.compiler.compile(
                [f"{SOURCE}/engine.cpp"],
                output_dir=f"{self.build_temp}/lanes{lanes}",
                macros=[("ROTE_LANES", str(lanes)), ("ROTE_ISA", f"lanes{lanes}")],
                extra_postargs=COMMON + ([] if lanes in PORTABLE else flags) + MORE,
                depends=ext.depends,
            )
        objects += self.compiler.compile(
            [f"{SOURCE}/interface.cpp"],
            output_dir=f"{self.build_temp}/interface",
            macros=[*([("ROTE_WIDE", "1")] if wide else []), *((f"ROTE_PORTABLE_{lanes}", "1") for lanes in PORTABLE)],
            extra_postargs=["-std=c++17", "-O2", "-Wall", "-Wextra", *MORE],
            depends=ext.depends,
        )
        self.compiler.link_shared_object(
            objects, self.get_ext_fullpath(ext.name), target_lang="c++", extra_preargs=MORE
        )


class AnyPython(bdist_wheel):
    """One wheel for every Python 3: the library is loaded by ctypes and links to no interpreter."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


engine = Extension(
    "rote.training.native.engine",
    sources=[f"{SOURCE}/engine.cpp", f"{SOURCE}/interface.cpp"],
    depends=sorted(str(path) for path in Path(SOURCE).glob("*.h")),
    language="c++",
    optional=True,
)
setup(ext_modules=[engine], cmdclass={"build_ext": BuildEngine, "bdist_wheel": AnyPython})
