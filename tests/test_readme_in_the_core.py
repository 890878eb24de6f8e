"""README's blocks run in an environment with the core alone: no package of an extra can be imported."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCKER = """
import importlib.abc, runpy, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}: it belongs to an extra", name=name)

sys.meta_path.insert(0, Blocker())
"""
IMPORTED_AS = {"huggingface-hub": "huggingface_hub", "lm-eval": "lm_eval", "transformer-lens": "transformer_lens"}


def blocked() -> set[str]:
    """Modules of packages that only an extra brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.split(r"[\[<>=]", text)[0] for extra in project["optional-dependencies"].values() for text in extra}
    core = {re.split(r"[\[<>=]", text)[0] for text in project["dependencies"]}
    return {IMPORTED_AS.get(name, name.replace("-", "_")) for name in named - core}


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    start = f"BLOCKED = {blocked()!r}\n{BLOCKER}\n"
    return subprocess.run([sys.executable, "-c", start + code], cwd=folder, capture_output=True, text=True, check=False)


def test_the_python_blocks(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert blocks
    done = run("\n".join(blocks), tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_commands(tmp_path):
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("rote ")]
    assert len(commands) >= 5
    code = "import shlex\nfrom rote.cli import main\n"
    code += "\n".join(f"assert main(shlex.split({command!r})[1:]) == 0, {command!r}" for command in commands)
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_extra_is_really_blocked(tmp_path):
    done = run("import transformers", tmp_path)
    assert "belongs to an extra" in done.stderr
