"""`rote demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rote.cli.options import Facts, Figures, bars, read_facts
from rote.cli.output import AsJson, describe, print_json, print_pairs, print_table
from rote.words import command

if TYPE_CHECKING:
    from rote.folders import Folder
    from rote.tasks import AssociationTask

ASKED = 6


def demo(
    facts: Facts = "countries",
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo"),
    figures: Figures = ("png",),
    as_json: AsJson = False,
) -> int:
    """Bound, build, ask and verify on a real table, in one minute.

    Shows what theory guarantees, builds a model that stores every fact, asks it, verifies its certificate, and writes
    a figure and a report.

    Examples:

    - `rote demo`
    - `rote demo mine.csv -o mine`

    Parameters
    ----------
    output
        Folder for the model, the figure and the report.
    figures
        Formats of the figure.
    """
    from rote.folders.destination import check_destination
    from rote.tasks import require_associations

    story = _Story(silent=as_json)
    # Before tensors are loaded, which takes seconds: what is wrong with the folder or the facts.
    check_destination(output / "model", overwrite=True)
    why = "the demo stores associations; use `rote build` for other tasks"
    task = require_associations(read_facts(facts, None), why)

    from rote.charts.drawing import write_chart
    from rote.constructions.build import build
    from rote.folders import read_folder, verify, write_folder
    from rote.report.html import write_html
    from rote.report.plan_charts import stored_chart
    from rote.report.reporting import report_on
    from rote.theory import bounds
    from rote.theory.sizes import theorem1_spec

    story.pairs(
        f"1. The facts: {facts}",
        {
            "facts": task.facts,
            "for example": "; ".join(str(task[row]) for row in _spread(task)[:3]),
            "answers": f"{task.answer_entropy:.2f} bits each, {task.entropy_bits:,.0f} bits in all",
            "vocabulary": f"{task.vocab:,} tokens, contexts of {task.context}",
            **({"licence": task.origin.licence} if task.origin.licence else {}),
        },
    )
    spec = theorem1_spec(task.shape)
    own = [bound for bound in bounds(spec).listed if bound.section in ("guaranteed", "impossible")]
    story.table(
        f"2. What theory guarantees, and what is impossible ({describe(spec)})",
        ["result", "facts", "says", "parameters"],
        [[bound.id, bound.associations, bound.says, bound.parameters] for bound in own],
    )
    built = build(task, dim=spec.dim, head_dim=spec.head_dim, heads=spec.heads, progress=bars())
    certificate = built.certificate
    path = write_folder(output / "model", built.model, task.origin, built.provenance, certificate, overwrite=True)
    story.pairs(
        f"3. A model, its weights computed in closed form: {built.provenance['method']}",
        {
            "recalled": f"{certificate.recalled:,} of {certificate.facts:,} facts, in {certificate.dtype}",
            "parameters": certificate.parameters,
            "smallest logit margin": certificate.min_margin,
            "bits per parameter": certificate.bits_per_parameter,
            "folder": str(path),
        },
    )
    folder = read_folder(path)
    story.table("4. Ask it", ["question", "answer", "logit margin"], _asked(folder, task))
    verdict = verify(folder, task, bars())
    altered = _with_one_answer_changed(task)
    caught = verify(folder, altered, bars())
    named = "; ".join(str(altered[int(row)]) for row in caught.missed[:3])
    story.pairs(
        "5. Verify: the certificate recomputed from the tensors and the table",
        {
            "this table": "every statement holds" if verdict.holds else "DOES NOT HOLD",
            "one answer changed": "NOT NOTICED" if caught.holds else f"rejected, naming {named}",
        },
    )
    chart = stored_chart(spec, certificate.facts, certificate.recalled, facts)
    drawn = [write_chart(chart, output / f"guarantees.{kind}") for kind in dict.fromkeys(figures)]
    document = report_on([path], title=f"rote demo: {facts}", task=task, progress=bars())
    report = write_html(document, output / "report.html")
    good = verdict.holds and not caught.holds and certificate.complete
    recall = certificate.recalled / certificate.facts
    if as_json:
        print_json(
            {
                "facts": certificate.facts,
                "recalled": certificate.recalled,
                "recall": recall,
                "ceiling": task.ceiling,
                "parameters": certificate.parameters,
                "verified": verdict.holds,
                "altered_table_refused": not caught.holds,
                "model": str(path),
                "figures": [str(path) for path in drawn],
                "report": str(report),
            }
        )
    elif good:
        print(f"{recall:.0%} recall of {certificate.facts:,} facts, certificate verified.")
        print(f"Figure: {', '.join(map(str, drawn))}")
        print(f"Report: {report} (open it in a browser; it needs no network)")
        print(f"Next: {command('rote', 'plan', facts)}    rote build YOUR.csv -o model    rote list methods")
    else:
        print("NOT verified: see above")
    return 0 if good else 1


def _spread(task: AssociationTask) -> list[int]:
    """Rows from all over the table."""
    count = min(ASKED, task.facts)
    return [row * (task.facts - 1) // max(1, count - 1) for row in range(count)]


def _asked(folder: Folder, task: AssociationTask) -> list[list[Any]]:
    """Questions, the model's answers, and how far the right answer's logit is ahead of the next best."""
    import numpy as np
    import torch

    from rote.measure.recall import margins

    asked = task.take(np.array(_spread(task))).in_vocabulary(folder.model.vocabulary or task.vocabulary)
    logits = folder.model.logits(asked.contexts)
    answers = asked.vocabulary.words(logits.argmax(1).tolist())
    ahead = margins(logits, torch.from_numpy(asked.answers).long()).tolist()
    return [[" ".join(asked[row].key), answers[row], ahead[row]] for row in range(asked.facts)]


def _with_one_answer_changed(task: AssociationTask) -> AssociationTask:
    from dataclasses import replace

    import numpy as np

    answers = task.answers.copy()
    others = np.unique(answers[answers != answers[0]])
    answers[0] = others[0] if len(others) else (answers[0] + 1) % task.vocab
    return replace(task, answers=answers)


class _Story:
    """Prints as it goes, unless one JSON document was requested."""

    def __init__(self, silent: bool) -> None:
        self._silent = silent

    def pairs(self, title: str, pairs: dict[str, Any]) -> None:
        if not self._silent:
            print_pairs(title, pairs)

    def table(self, title: str, columns: list[str], rows: list[list[Any]]) -> None:
        if not self._silent:
            print_table(title, columns, rows)
