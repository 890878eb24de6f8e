"""`rote train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts
from rote.cli.output import AsJson, describe, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from rote.models.attention_only import AttentionOnly
    from rote.models.mlp_transformer import MlpTransformer
    from rote.tasks import TokenTask
    from rote.training.result import Trained


def train(
    facts: Facts,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    dim: int,
    heads: int,
    head_dim: int | None = None,
    layers: int = 1,
    width: int | None = None,
    variant: Literal["per-head", "shared"] = "per-head",
    seeds: int = 5,
    protocol: Literal["fast", "paper", "best"] = "fast",
    steps: int | None = None,
    batch: int | None = None,
    optimizer: Literal["adam", "muon"] | None = None,
    rate: float | None = None,
    polish: int | None = None,
    workers: int | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    device: str = "cpu",
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Find weights by optimisation: several seeds at once, the one that recalls most is saved with a certificate.

    Example: `rote train countries -o model --dim 16 --heads 8`

    Parameters
    ----------
    output
        Folder to write the best model into.
    dim
        Embedding dimension.
    heads
        Heads per layer.
    head_dim
        Head dimension; that of the embedding when absent.
    layers
        Layers of attention.
    width
        Follow each layer by an MLP of this width.
    variant
        Heads of their own (per-head) or behind one compression (shared) when head_dim < dim.
    seeds
        Models to train, seeds 0, 1, ...; the same seed gives the same model.
    protocol
        fast: few steps; paper: the schedule of Dana et al. 2025; best: as much as can be memorized.
    steps
        Optimiser steps in place of the protocol's.
    batch
        Contexts per step; all of them while they are few when absent.
    optimizer
        Adam, or Muon on the heads' matrices.
    rate
        Peak learning rate.
    polish
        L-BFGS iterations after the last step.
    workers
        Models trained at once; one per core when absent. Results do not depend on it.
    engine
        Native where it can, else torch.
    device
        Any torch device; the native engine runs on cpu.
    force
        Replace a model folder that exists.
    """
    import time

    from rote.folders.destination import check_destination
    from rote.tasks import VectorTask, require_tokens

    # Before tensors are loaded, which takes seconds: what is wrong with the folder or the facts.
    check_destination(output, force)
    table = read_facts(facts, reading)
    given = {"steps": steps, "batch": batch, "optimizer": optimizer, "peak": rate, "polish": polish}
    changes = {name: value for name, value in given.items() if value is not None}
    if isinstance(table, VectorTask):
        from rote.cli.train_vectors import train_on_vectors

        train_on_vectors(
            facts, table, output, dim=dim, heads=heads, head_dim=head_dim, seeds=seeds, protocol=protocol,
            changes=changes, force=force, as_json=as_json,
        )  # fmt: skip
        return
    task = require_tokens(table, "training takes associations or distributions over tokens")

    from rote.errors import CheckFailed
    from rote.folders import write_folder
    from rote.measure.certificate import examine
    from rote.training.train import train as train_models

    spec = _spec(task, dim, head_dim or dim, heads, layers, width, variant)
    started = time.perf_counter()
    trained = train_models(
        task, spec, seeds, protocol, workers=workers, engine=engine, device=device, progress=bars(), **changes
    )  # fmt: skip
    seconds = time.perf_counter() - started
    good = [one for one in trained if not one.diverged]
    if not good:
        at = ", ".join(f"seed {one.seed} at step {one.diverged_at}" for one in trained)
        raise CheckFailed(f"training diverged in every seed ({at}); nothing was written. Lower --rate, or add --steps")
    best = max(good, key=lambda one: (one.accuracy, -one.loss, -one.seed))
    certificate = examine(best.model, task, progress=bars()).certificate
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
        "protocol": best.protocol.model_dump(mode="json"),
        "engine": best.engine,
        "facts": certificate.facts,
        "recalled": certificate.recalled,
        "recall": certificate.recalled / certificate.facts,
        "ceiling": certificate.recallable / certificate.facts,
        "min_margin": certificate.min_margin,
        "divergence": certificate.divergence,
        "parameters": certificate.parameters,
        "bits_per_parameter": certificate.bits_per_parameter,
        "promised": _promised(spec),
        "best_seed": best.seed,
        "diverged": len(trained) - len(good),
        "models": [one.summary() for one in trained],
        "seconds": round(seconds, 3),
    }
    if as_json:
        print_json(document)
    else:
        _show(facts, document, trained, spec)


def _spec(
    task: TokenTask, dim: int, head_dim: int, heads: int, layers: int, width: int | None,
    variant: Literal["per-head", "shared"],
) -> AttentionOnly | MlpTransformer:  # fmt: skip
    from rote.errors import InputError
    from rote.models.attention_only import AttentionOnly
    from rote.models.mlp_transformer import MlpTransformer

    # Scores scaled by 1/sqrt(head_dim), as in every published experiment: unscaled ones start out saturated.
    sizes: dict[str, Any] = {
        "vocab": task.vocab, "context": task.context, "dim": dim, "head_dim": head_dim, "heads": heads,
        "layers": layers, "scale_scores": True,
    }  # fmt: skip
    if width is None:
        return AttentionOnly(variant=variant, **sizes)
    if variant != "per-head":
        raise InputError("--variant shared: models with an MLP have heads of their own; leave --width or --variant out")
    return MlpTransformer(width=width, **sizes)


def _promised(spec: AttentionOnly | MlpTransformer) -> int | None:
    from rote.models.attention_only import AttentionOnly
    from rote.theory import RESULTS

    return RESULTS["dana2025.theorem1"].bound(spec).associations if isinstance(spec, AttentionOnly) else None


def _show(facts: str, document: dict[str, Any], trained: list[Trained], spec: AttentionOnly | MlpTransformer) -> None:
    if len(trained) > 1:
        print_table(
            "models",
            ["seed", "recall", "loss (nats)", "outcome"],
            [
                [
                    one.seed,
                    "-" if one.accuracy is None else f"{one.accuracy:.4f}",
                    f"{one.loss:.4g}",
                    f"diverged at step {one.diverged_at}" if one.diverged else "trained",
                ]
                for one in trained
            ],
        )
    protocol = trained[0].protocol
    print_pairs(
        f"{facts}: {document['recalled']:,} of {document['facts']:,} facts recalled by the best of {len(trained)}",
        {
            "recall": f"{document['recall']:.2%}  (ceiling {document['ceiling']:.2%})",
            "architecture": describe(spec),
            "parameters": document["parameters"],
            "bits per parameter": document["bits_per_parameter"],
            "smallest margin": document["min_margin"],
            **({"divergence": document["divergence"]} if document["divergence"] is not None else {}),
            **({"Theorem 1 promises": document["promised"]} if document["promised"] is not None else {}),
            "protocol": f"{protocol.name}: {protocol.optimizer}, {protocol.steps:,} steps"
            + (f", batches of {protocol.batch:,}" if protocol.batch else ", all contexts at once")
            + (f", {protocol.polish} L-BFGS iterations" if protocol.polish else ""),
            "engine": document["engine"],
            "diverged": f"{document['diverged']} of {len(trained)} seeds",
            "time": f"{document['seconds']:.1f} s",
            "folder": document["folder"],
        },
    )
