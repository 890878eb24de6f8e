"""`rote demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rote.cli.options import Facts, bars
from rote.cli.output import AsJson, describe, print_json, print_pairs, print_table

ASKED = 6


def demo(
    facts: Facts = "countries",
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    as_json: AsJson = False,
) -> int:
    """The whole story on a real table: what theory promises, a model that holds every fact, its certificate verified.

    Example: `rote demo`

    Parameters
    ----------
    output
        Folder for the model and the figure.
    """
    import numpy as np

    from rote.constructions.build import build
    from rote.export import read_folder, verify, write_folder
    from rote.measure.recall import margins
    from rote.report.promise_figure import promise_figure
    from rote.tasks import AssociationTask
    from rote.tasks.facts import facts as read
    from rote.theory import bounds
    from rote.theory.sizes import theorem1_spec

    show = _Story(as_json)
    task = read(facts)
    if not isinstance(task, AssociationTask):
        from rote.errors import InputError

        raise InputError(f"{facts}: the demo stores associations; use `rote build` for other tasks")
    spread = np.linspace(0, task.facts - 1, ASKED).astype(int)
    show.pairs(
        f"1. The facts: {facts}",
        {
            "facts": task.facts,
            "for example": "; ".join(str(task[int(row)]) for row in spread[:3]),
            "answers": f"{task.answer_entropy:.2f} bits each, {task.entropy_bits:,.0f} bits in all",
            "vocabulary": f"{task.vocab:,} tokens, contexts of {task.context}",
            **({"licence": task.origin.licence} if task.origin.licence else {}),
        },
    )
    spec = theorem1_spec(task.shape)
    # Orders hide their constants: true, but nothing that a table of 1,000 facts could confirm.
    promised = [item for item in bounds(spec) if item.applies and item.kind != "order"]
    show.table(
        f"2. What theory promises ({describe(spec)})",
        ["bound", "associations", "kind", "parameters"],
        [[item.id, item.associations, item.kind, item.parameters] for item in promised],
    )
    built = build(task, dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads, progress=bars())
    certificate = built.certificate
    model_folder = write_folder(
        output / "model", built.model, task.origin, built.provenance, certificate, overwrite=True
    )
    show.pairs(
        f"3. A model, computed in closed form: {built.provenance['method']}",
        {
            "stored": f"{certificate.stored:,} of {certificate.facts:,} facts, in {certificate.dtype}",
            "parameters": certificate.parameters,
            "smallest margin": certificate.min_margin,
            "bits per parameter": certificate.bits_per_parameter,
            "folder": str(model_folder),
        },
    )
    folder = read_folder(model_folder)
    asked = task.take(spread)
    logits = folder.model.logits(asked.contexts)
    answered = folder.model.vocabulary.words(logits.argmax(1).tolist())  # pyright: ignore[reportOptionalMemberAccess]
    import torch

    lead = margins(logits, torch.from_numpy(asked.answers).long())
    show.table(
        "4. Ask it",
        ["question", "answer", "ahead by"],
        [[" ".join(asked[at].key), answered[at], float(lead[at])] for at in range(ASKED)],
    )
    verdict = verify(folder, task, bars())
    wrong = task.answers.copy()
    wrong[0] = next(answer for answer in np.unique(task.answers) if answer != task.answers[0])
    altered = AssociationTask(task.contexts, wrong, task.vocabulary, task.origin)
    caught = verify(folder, altered, bars())
    show.pairs(
        "5. Verify: the certificate made again from the tensors and the table",
        {
            "this table": "every statement holds" if verdict.holds else "DOES NOT HOLD",
            "one answer changed": f"refused, naming {'; '.join(str(altered[int(row)]) for row in caught.missed[:3])}"
            if not caught.holds
            else "NOT NOTICED",
        },
    )
    picture = promise_figure(
        promised,
        certificate.stored,
        f"{facts}: promised and stored, {spec.parameters():,} parameters",
        output / "promise.png",
    )
    good = verdict.holds and not caught.holds and certificate.complete
    if as_json:
        print_json(
            {
                "facts": certificate.facts,
                "recalled": certificate.stored,
                "recall": certificate.stored / certificate.facts,
                "ceiling": task.ceiling,
                "parameters": certificate.parameters,
                "verified": verdict.holds,
                "altered_table_refused": not caught.holds,
                "model": str(model_folder),
                "figure": str(picture),
            }
        )
    elif good:
        print(
            f"{certificate.stored / certificate.facts:.0%} recall of {certificate.facts:,} facts, "
            "certificate verified.\n"
            f"Figure: {picture}\nNext: rote plan {facts}    rote build YOUR.csv -o model    rote methods"
        )
    else:
        print("NOT verified: see above")
    return 0 if good else 1


class _Story:
    """Prints as it goes, unless one JSON document was asked for."""

    def __init__(self, silent: bool) -> None:
        self._silent = silent

    def pairs(self, title: str, pairs: dict[str, Any]) -> None:
        if not self._silent:
            print_pairs(title, pairs)

    def table(self, title: str, columns: list[str], rows: list[list[Any]]) -> None:
        if not self._silent:
            print_table(title, columns, rows)
