"""`rote train` on vector tasks: query attention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.cli.output import describe, print_json, print_pairs

if TYPE_CHECKING:
    from rote.tasks import VectorTask


def train_on_vectors(
    facts: str, task: VectorTask, output: Path, *, dim: int, heads: int, head_dim: int | None, seeds: int,
    protocol: str, changes: dict[str, Any], force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Train the model of the published experiments once a seed; the best is saved with a certificate."""
    import time

    from rote.errors import CheckFailed, InputError
    from rote.folders import write_folder
    from rote.measure.certificate import examine
    from rote.models.query_attention import QueryAttention
    from rote.training.query_attention import train_vectors

    if dim != task.dim:
        raise InputError(f"`dim={dim}`: these examples' vectors have {task.dim} dimensions; give dim {task.dim}")
    if seeds < 1:
        raise InputError(f"`seeds={seeds}`: asks for no model")
    spec = QueryAttention.experiment(task.context, task.outputs, heads, head_dim or dim, dim)
    started = time.perf_counter()
    models = [train_vectors(task, spec, seed, protocol, **changes) for seed in range(seeds)]
    good = [trained for trained in models if not trained.diverged]
    if not good:
        raise CheckFailed("training diverged in every seed; nothing was written. Lower `rate`, or add `steps`")
    best = min(good, key=lambda trained: (-(trained.accuracy or 0.0), trained.mean_square or 0.0, trained.seed))
    certificate = examine(best.model, task).certificate
    provenance = {
        "method": "training",
        "protocol": best.protocol.model_dump(mode="json"),
        "seed": best.seed,
        "seeds": seeds,
        "engine": best.engine,
    }
    write_folder(output, best.model, task.origin, provenance, certificate, overwrite=force)
    document = {
        "folder": str(output),
        "spec": spec.to_config(),
        "protocol": provenance["protocol"],
        "engine": best.engine,
        "facts": task.facts,
        "recalled": certificate.recalled,
        "accuracy": best.accuracy,
        "mean_square": best.mean_square,
        "parameters": certificate.parameters,
        "promised": heads * (min(task.context, head_dim or dim) - 1) + 1,
        "best_seed": best.seed,
        "models": [trained.summary() for trained in models],
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        print_json(document)
        return
    reached = {"recall": f"{best.accuracy:.2%}"} if best.accuracy is not None else {}
    if best.mean_square is not None:
        reached["mean squared error"] = f"{best.mean_square:.3g}"
    print_pairs(
        f"{facts}: the best of {seeds} models",
        {
            **reached,
            "examples": task.facts,
            "architecture": describe(spec),
            "parameters": certificate.parameters,
            "Theorem 1 promises": document["promised"],
            "protocol": f"{best.protocol.name}: {best.protocol.method}, {best.steps:,} steps",
            "time": f"{document['seconds']:.1f} s",
            "folder": str(output),
        },
    )
