"""A page: what a language model knows of a table, by relation and template; a CSV beside it has the facts."""

from __future__ import annotations

import csv
from pathlib import Path

from rote.charts.style import BLUE, GREEN, ORANGE, figure, save
from rote.experiments.files import write_text
from rote.files import replacing
from rote.lm.recall import MEASURES, LanguageRecall, Reply
from rote.report.markdown import table_lines
from rote.words import cell

INTRODUCTION = """\
Three measures, from strict to generous. Intervals are Wilson's at 95 %.

- *First token*: the answer's first token has strictly the largest logit.
- *Whole answer*: greedy decoding says all of it.
- *Choice*: it is the likeliest of all answers that the table has for its relation.

*Bits* are a cross-entropy (codelength) estimate: the code length of the answers after a neutral prompt, with
`this country` in the country's place, minus that after their own prompt. A likely answer has zero gain, and a
confident wrong one costs bits."""

COLUMNS = ("relation", "asked", "answer", "right", "templates", "said")
COLOURS = dict(zip(MEASURES, (BLUE, ORANGE, GREEN), strict=True))


def write_known_facts_page(result: LanguageRecall, name: str, table: str, page: Path, command: str) -> list[Path]:
    """Write the page, its figure and its facts beside it; `name` is the model's as readers know it."""
    every = write_facts(result, page.with_suffix(".csv"))
    drawn = known_facts_figure(result, name, page.with_suffix(".png"))
    counted = result.parameters
    lines = [
        f"# What {name} knows of `{table}`", "",
        f"{counted.total:,} parameters (all weights, tied ones once; {counted.embeddings:,} of them in embedding "
        f"tables), read in {result.dtype}. `{command}`", "",
        *INTRODUCTION.splitlines(), "",
        f"The model holds {result.bits:,.0f} bits of this table, each relation at the mean over its templates. That is "
        f"{result.bits_per_parameter:.2g} bits per parameter, for one of the many tables that it read. "
        f"The ceiling, the most that any model could recall, is {result.ceiling:.2%}.", "",
        f"![shares right by relation and template]({drawn.name})", "",
        "## By relation and template", "",
        *table_lines(
            ["relation", "facts", "template", "first token", "whole answer", "choice", "bits"], _rows(result),
            [False, True, False, False, False, False, True],
        ),
        "", "Over templates, mean and standard deviation:", "",
        *table_lines(
            ["relation", *(measure.replace("_", " ") for measure in MEASURES), "bits"],
            [[relation or "all", *_spreads(result, relation)] for relation in result.relations],
            [False, False, False, False, False],
        ),
        "",
        f"[{every.name}]({every.name}) has one row per fact: under how many templates the first token is right, and "
        "what the model said after the first template where it is not.",
    ]  # fmt: skip
    return [write_text(page, "\n".join(lines) + "\n"), drawn, every]


def known_facts_figure(result: LanguageRecall, name: str, path: Path) -> Path:
    """Shares right, a point per relation, template and measure, with Wilson's intervals."""
    groups = [(relation, text) for relation in result.relations for text in _templates(result, relation)]
    with figure(7.2, 0.34 * len(groups) + 1.2) as drawn:
        axes = drawn.add_subplot()
        for offset, measure in zip((-0.22, 0.0, 0.22), MEASURES, strict=True):
            for row, (relation, text) in enumerate(groups):
                tally = result.tally(text, relation)
                share, (low, high) = tally.right[measure] / tally.facts, tally.interval(measure)
                axes.errorbar(
                    share, row + offset, xerr=[[share - low], [high - share]], fmt="o", ms=3.5, capsize=2,
                    color=COLOURS[measure], label=measure.replace("_", " ") if row == 0 else None,
                )  # fmt: skip
        axes.set_yticks(range(len(groups)), [text for _, text in groups], fontsize=7)
        axes.invert_yaxis()
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("share right")
        axes.set_title(f"{name}: facts recalled by template")
        axes.grid(axis="x")
        axes.legend(fontsize=7.5, loc="lower right")
        return save(drawn, path)


def _templates(result: LanguageRecall, relation: str | None) -> list[str]:
    return list(dict.fromkeys(reply.template for reply in result.replies if relation in (None, reply.relation)))


def _rows(result: LanguageRecall) -> list[list[object]]:
    rows: list[list[object]] = []
    for relation in result.relations:
        for text in _templates(result, relation):
            tally = result.tally(text, relation)
            shares = [
                f"{tally.right[measure]} ({low:.0%}-{high:.0%})"
                for measure in MEASURES
                for low, high in (tally.interval(measure),)
            ]
            rows.append([relation or "all", tally.facts, text, *shares, round(tally.bits)])
    return rows


def _spreads(result: LanguageRecall, relation: str | None) -> list[str]:
    shares = [result.spread(relation, measure) for measure in MEASURES]
    mean, spread = result.spread(relation, "bits")
    return [*(f"{share:.1%} ± {deviation:.1%}" for share, deviation in shares), f"{mean:,.0f} ± {spread:,.0f}"]


def write_facts(result: LanguageRecall, path: Path) -> Path:
    """One row per fact, by relation, in the order of the table's rows."""
    replies: dict[int, list[Reply]] = {}
    for reply in result.replies:
        replies.setdefault(reply.row, []).append(reply)
    with replacing(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for own in sorted(replies.values(), key=lambda own: (own[0].relation or "", own[0].row)):
            right, said = sum(reply.first_token for reply in own), "" if own[0].first_token else own[0].said
            writer.writerow(map(cell, (own[0].relation or "", own[0].prompt, own[0].answer, right, len(own), said)))
    return path
