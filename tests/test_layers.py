"""Layers: a package imports only from those above it, at the top of a module or inside a function alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import rote

SOURCE = Path(rote.__file__).parent

LAYERS = [
    ("version", "lazy", "stability"),
    ("interrupts",),
    ("supervisor", "panics"),
    ("words",),
    ("errors",),
    ("files",),
    ("unpacking",),
    ("progress",),
    ("threads",),
    ("trackers",),
    ("arguments",),
    ("display",),
    ("charts",),
    ("tasks",),
    ("models",),
    ("theory",),
    ("measure",),
    ("folders",),
    ("training",),
    ("constructions",),
    ("editing",),
    ("lm",),
    ("export",),
    ("papers",),
    ("experiments",),
    ("report",),
    ("web",),
    ("cli",),
    ("types", "extend"),
    ("testing",),
]
"""From the top down, as in docs/architecture.md."""

DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}


class Import(NamedTuple):
    package: str
    line: int


def imports(tree: ast.AST) -> Iterator[Import]:
    """Every package of rote that a module imports, lazy imports and those for type checkers included."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "rote" else [node.module]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        for name in names:
            parts = str(name).split(".")
            if parts[0] == "rote" and len(parts) > 1 and parts[1] in DEPTH:
                yield Import(parts[1], node.lineno)


def upward(module: Path, text: str) -> list[str]:
    """Imports of a module that point down the list, as messages that name the line."""
    own = module.relative_to(SOURCE).parts[0].removesuffix(".py")
    return [
        f"{module.relative_to(SOURCE)}:{found.line} imports rote.{found.package}, which is below rote.{own}"
        for found in imports(ast.parse(text))
        if DEPTH[found.package] > DEPTH[own] or (DEPTH[found.package] == DEPTH[own] and found.package != own)
    ]


OUTSIDE = (SOURCE / "__init__.py", SOURCE / "__main__.py")
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path not in OUTSIDE]


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_graph(texts: dict[str, str]) -> dict[str, set[str]]:
    """What each module imports of the others, lazy imports and those for type checkers included."""
    graph: dict[str, set[str]] = {}
    for module, text in texts.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                found.update(name if name in texts else str(node.module) for name in names)
        graph[module] = (found & texts.keys()) - {module}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, directly or through others."""
    reach = {module: set(imported) for module, imported in graph.items()}
    changed = True
    while changed:
        changed = False
        for imported in reach.values():
            more = set().union(*(reach[name] for name in imported)) - imported
            imported |= more
            changed |= bool(more)
    together = {frozenset(other for other in reach[module] if module in reach[other]) for module in reach}
    return sorted(sorted(modules) for modules in together if modules)


def test_cycles_are_found():
    graph = module_graph(
        {
            "rote.a": "def f():\n    from rote.b import g",
            "rote.b": "from rote import c",
            "rote.c": "import rote.a",
            "rote.d": "from rote.a import f",
        }
    )
    assert cycles(graph) == [["rote.a", "rote.b", "rote.c"]]


def test_no_modules_import_each_other_in_a_circle():
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in MODULES}
    assert cycles(module_graph(texts)) == []


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCE).parts[0] for path in MODULES}))
def test_packages_import_only_from_above(package):
    assert package.removesuffix(".py") in DEPTH, f"{package} has no place among the layers"
    offences = [
        message
        for path in MODULES
        if path.relative_to(SOURCE).parts[0] == package
        for message in upward(path, path.read_text(encoding="utf-8"))
    ]
    assert not offences, "\n".join(offences)


@pytest.mark.parametrize(
    "text",
    [
        "from rote.experiments.capacity import capacity",
        "import rote.cli.build",
        "from rote import cli",
        "def late():\n    from rote.report.html import html",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rote.training.result import Trained",
        "from importlib import import_module\nimport_module('rote.papers')",
    ],
)
def test_an_upward_import_is_named(text):
    (message,) = upward(SOURCE / "measure" / "recall.py", text)
    assert message.startswith("measure/recall.py:")
    assert "below rote.measure" in message
