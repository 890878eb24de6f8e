"""`rote train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, On, ReadingOptions, ReportTo, TrainingOptions, read_facts, reported
from rote.cli.output import AsJson, describe, print_json, print_pairs, print_table
from rote.errors import InputError
from rote.models.grid import GridName

if TYPE_CHECKING:
    from rote.experiments.best_of_seeds import BestOfSeeds
    from rote.tasks import VectorTask


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
    dtype: GridName | None = None,
    training: TrainingOptions | None = None,
    workers: int | None = None,
    engine: Literal["auto", "native", "torch"] = "auto",
    on: On = "here",
    report_to: ReportTo = None,
    device: str = "cpu",
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Train models on facts, several seeds at once, and save the best with a certificate.

    Finished seeds are kept: after an interruption the same command resumes.

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
        Head dimension. Default: --dim.
    layers
        Number of attention layers.
    width
        Add an MLP of this width after each layer. Default: no MLP.
    variant
        per-head: every head has its own projections; shared: all heads read one compression to --head-dim dimensions.
    seeds
        Number of models, with seeds 0, 1, ...; the same seed gives the same model.
    protocol
        fast: few steps; paper: the schedule of Dana et al. 2025; best: long training that memorizes most.
        Default: fast.
    dtype
        Train on a grid, int8 to ternary, with a protocol of its own; the model is saved in packed integers with scales.
        Default: float32.
    workers
        Models trained at once; results do not depend on it. Default: one per core.
    engine
        Training engine. auto: native where possible, else torch.
    device
        A torch device; the native engine requires cpu.
    force
        Replace an existing model folder.
    """
    from rote.folders.destination import check_destination
    from rote.tasks import VectorTask, require_tokens

    # Before tensors are loaded, which takes seconds: what is wrong with the folder or the facts.
    check_destination(output, force)
    table = read_facts(facts, reading)
    changes = training.changes if training else {}
    if dtype is not None and (protocol != "fast" or isinstance(table, VectorTask)):
        raise InputError(f"`dtype={dtype}`: has a protocol of its own, for facts of tokens; leave `protocol` out")
    if isinstance(table, VectorTask):
        _train_on_vectors(
            facts, table, output, dim=dim, heads=heads, head_dim=head_dim, seeds=seeds,
            protocol=protocol, changes=changes, on=on, report_to=report_to, force=force, as_json=as_json,
        )  # fmt: skip
        return 0
    task = require_tokens(table, "training takes associations or distributions over tokens")

    from rote.experiments.best_of_seeds import KeptSeeds, train_best, trainable_spec

    spec = trainable_spec(
        task, dim=dim, heads=heads, head_dim=head_dim, layers=layers, width=width, variant=variant
    )  # fmt: skip
    keep = KeptSeeds.beside(output)
    if dtype is not None:
        changes["dtype"] = dtype
    with reported(report_to, "rote train", facts=facts, spec=spec.to_config(), protocol=protocol) as progress:
        trained = train_best(
            task, spec, seeds, protocol, workers=workers, engine=engine, device=device, on=on, keep=keep,
            progress=progress, **changes,
        )  # fmt: skip
    trained.save(output, overwrite=force)
    if as_json:
        print_json({"folder": str(output), **trained.summary()})
    else:
        _show(facts, output, trained)
    return 0


def _show(facts: str, output: Path, trained: BestOfSeeds) -> None:
    seeds, protocol, document = len(trained.models), trained.best.protocol, trained.summary()
    failed = trained.failed
    if seeds > 1:
        print_table(
            "models",
            ["seed", "recall", "loss (nats)", "outcome"],
            [
                [
                    model.seed,
                    "-" if model.accuracy is None else f"{model.accuracy:.4f}",
                    f"{model.loss:.4g}",
                    f"diverged at step {model.diverged_at}" if model.diverged else "trained",
                ]
                for model in trained.models
            ],
        )
    print_pairs(
        f"{facts}: {document['recalled']:,} of {document['facts']:,} facts recalled by the best of {seeds}",
        {
            "recall": f"{document['recall']:.2%}  (ceiling {document['ceiling']:.2%})",
            "architecture": describe(trained.best.model.spec),
            "parameters": document["parameters"],
            "bits per parameter": document["bits_per_parameter"],
            "bits per weight bit": document["bits_per_weight_bit"],
            "smallest logit margin": document["min_margin"],
            **({"divergence": document["divergence"]} if document["divergence"] is not None else {}),
            **({"Theorem 1 guarantees": document["guaranteed"]} if document["guaranteed"] is not None else {}),
            **({"stored in": protocol.dtype} if protocol.dtype else {}),
            "protocol": f"{protocol.name}: {protocol.optimizer}, {protocol.steps:,} steps"
            + (f", batches of {protocol.batch:,}" if protocol.batch else ", all contexts at once")
            + (f", {protocol.polish} L-BFGS iterations" if protocol.polish else ""),
            "engine": document["engine"],
            "diverged": f"{document['diverged']} of {seeds} seeds",
            **({"failed": f"{len(failed)} seeds; the first: {failed[0].reason}"} if failed else {}),
            "time": f"{document['seconds']:.1f} s",
            "folder": str(output),
        },
    )


def _train_on_vectors(
    facts: str, task: VectorTask, output: Path, *, dim: int, heads: int, head_dim: int | None, seeds: int,
    protocol: str, changes: dict[str, Any], on: str, report_to: ReportTo, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Train, save the best model, and show it."""
    from rote.experiments.vectors.best import train_best_on_vectors

    with reported(report_to, "rote train", facts=facts, dim=dim, heads=heads, protocol=protocol) as progress:
        trained = train_best_on_vectors(
            task, dim=dim, heads=heads, head_dim=head_dim, seeds=seeds, protocol=protocol, on=on, progress=progress,
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
