"""Shape and type checks on everything in `rote`, one thread, and the same examples on every run."""

import os
import sys

import jaxtyping
from hypothesis import HealthCheck, settings

from shape_checks import jaxtyped_where_shapes_are

if "rote" in sys.modules:
    raise RuntimeError("rote was imported before its shape checks were installed")
jaxtyping.jaxtyped = jaxtyped_where_shapes_are
jaxtyping.install_import_hook("rote", "shape_checks.check")

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of processes that tests start, beside another worker's

import torch  # noqa: E402

torch.set_num_threads(1)

settings.register_profile(
    "rote", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rote")

# What tests watch also runs the checks of shapes and, in CI, coverage, which cost CPU time of their own.
from hostile import watch  # noqa: E402

watch.SECONDS *= 3
