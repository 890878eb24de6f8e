"""Code in an exported folder is run when the folder is verified: only code that rote itself writes there is."""

from __future__ import annotations

import re
from pathlib import Path

from rote.errors import problems
from rote.export import shipped
from rote.export.targets.lm_eval import TASK

NAME = r"[\w:-]+"
"""What names of tasks and fingerprints are made of."""


def refuse_foreign_code(folder: Path) -> None:
    """Refuse a folder whose Python or YAML files are not, byte for byte, those that this release writes.

    Task descriptions of the harness count as code, for they can name functions to be called.
    """
    own = {path.read_bytes() for path in Path(shipped.__file__).parent.glob("*.py")}
    any_task = re.escape(TASK.format(name="NAME", fingerprint='"NAME"')).replace("NAME", NAME)
    described = re.compile(any_task)
    foreign = [path for path in folder.rglob("*.py") if path.read_bytes() not in own]
    for path in (*folder.rglob("*.yaml"), *folder.rglob("*.yml")):
        if not described.fullmatch(path.read_text(encoding="utf-8", errors="replace")):
            foreign.append(path)
    if foreign:
        wrong = "is not what this release of rote writes there, so it is not run; export the model again"
        raise problems("code", [f"{path}: {wrong}" for path in sorted(foreign)])
