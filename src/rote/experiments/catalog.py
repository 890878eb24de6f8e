"""Everything that has an id: methods, papers, results, figures, sources of facts, protocols, export targets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from rote.errors import InputError, nearest

Listed = Literal["methods", "papers", "results", "sources", "protocols", "targets"]
Documents = dict[str, Callable[[], Any]]
"""What is known of each id of one kind: a dict, or a dataclass."""

PROTOCOLS = {
    "fast": "few steps: matches the published accuracies in a fraction of the paper's schedule (the default)",
    "paper": "the published schedule: Dana et al. 2025 for tokens, Mahdavi et al. 2024 for vectors",
    "best": "long training that memorizes as much as possible",
}


def listed(kind: Listed) -> list[Any]:
    """A document for everything of one kind, by id."""
    return [document() for document in _KINDS[kind]().values()]


def described(id: str) -> dict[str, Any]:
    """What has this id, by kind: a method and the result that it meets may share one."""
    found = {}
    for kind in _KINDS:
        # Targets come last: they load tensors, which takes seconds, and nothing else has their names.
        if kind == "targets" and found:
            continue
        documents = _KINDS[kind]()
        if id in documents:
            found[kind.removesuffix("s")] = documents[id]()
    if not found:
        known = [name for kind in _KINDS for name in _KINDS[kind]()]
        raise InputError(
            f"{id}: no method, paper, figure, result, source, protocol or target has this id{nearest(id, known)}"
        )
    return found


def _methods() -> Documents:
    from rote.constructions import CONSTRUCTIONS
    from rote.constructions.overview import overview

    return {id: partial(overview, CONSTRUCTIONS[id]) for id in sorted(CONSTRUCTIONS)}


def _papers() -> Documents:
    from rote.experiments.paper_overview import paper
    from rote.theory import PAPERS

    return {id: partial(paper, id) for id in sorted(PAPERS)}


def _figures() -> Documents:
    from rote.experiments.paper_overview import figure_overview
    from rote.papers import FIGURES

    return {figure.id: partial(figure_overview, figure) for figures in FIGURES.values() for figure in figures}


def _results() -> Documents:
    from rote.theory import RESULTS

    def document(id: str) -> dict[str, Any]:
        from rote.constructions import CONSTRUCTIONS

        result = RESULTS[id]
        return {
            "id": id,
            "kind": result.kind,
            "statement": result.statement,
            "source": result.source,
            "citation": result.paper.citation,
            "inverted": bool(result.smallest),
            "methods": sorted(method.id for method in CONSTRUCTIONS.values() if method.meets == id),
        }

    return {id: partial(document, id) for id in sorted(RESULTS)}


def _sources() -> Documents:
    from rote.tasks.generators import KINDS
    from rote.tasks.sources import SOURCES

    def generator() -> dict[str, Any]:
        return {
            "id": "random",
            "summary": "a generator: random:vocab=50,context=2,facts=210,seed=1",
            "kinds": {kind: list(options.model_fields) for kind, (options, _) in KINDS.items()},
        }

    def document(name: str) -> dict[str, Any]:
        source = SOURCES[name]
        return {
            "id": name,
            "summary": source.summary,
            "licence": source.licence,
            "citation": source.citation,
            "reading": source.reading.model_dump(exclude_defaults=True),
        }

    return {**{name: partial(document, name) for name in sorted(SOURCES)}, "random": generator}


def _protocols() -> Documents:
    return {name: lambda name=name: {"id": name, "summary": PROTOCOLS[name]} for name in PROTOCOLS}


def _targets() -> Documents:
    from rote.export import TARGETS

    def document(id: str) -> dict[str, Any]:
        target = TARGETS[id]
        return {"id": id, "summary": target.summary, "extra": target.extra, "caches": list(target.caches)}

    return {id: partial(document, id) for id in sorted(TARGETS)}


_KINDS: dict[str, Callable[[], Documents]] = {
    "methods": _methods,
    "papers": _papers,
    "results": _results,
    "sources": _sources,
    "protocols": _protocols,
    "figures": _figures,
    "targets": _targets,
}
