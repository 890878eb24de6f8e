"""`rote train` on vector tasks: query attention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.cli.options import bars
from rote.cli.output import describe, print_json, print_pairs

if TYPE_CHECKING:
    from rote.tasks import VectorTask


def train_on_vectors(
    facts: str, task: VectorTask, output: Path, *, dim: int, heads: int, head_dim: int | None, seeds: int,
    protocol: str, changes: dict[str, Any], on: str, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Train, save the best model, and show it."""
    from rote.experiments.vectors.best import train_best_on_vectors

    trained = train_best_on_vectors(
        task, dim=dim, heads=heads, head_dim=head_dim, seeds=seeds, protocol=protocol, on=on, progress=bars(),
        **changes,
    )  # fmt: skip
    trained.save(output, overwrite=force)
    document = {"folder": str(output), **trained.summary()}
    if as_json:
        print_json(document)
        return
    best = trained.best
    print_pairs(
        f"{facts}: the best of {seeds} models",
        {
            **({} if best.accuracy is None else {"recall": f"{best.accuracy:.2%}"}),
            **({} if best.mean_square is None else {"mean squared error": f"{best.mean_square:.3g}"}),
            "examples": task.facts,
            "architecture": describe(trained.spec),
            "parameters": document["parameters"],
            "Theorem 1 guarantees": trained.guaranteed,
            "protocol": f"{best.protocol.name}: {best.protocol.method}, {best.steps:,} steps",
            "diverged": f"{document['diverged']} of {seeds} seeds",
            "time": f"{document['seconds']:.1f} s",
            "folder": str(output),
        },
    )
