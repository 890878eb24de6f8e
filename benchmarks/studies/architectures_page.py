"""A page: which architecture holds most bits per parameter, at equal size and at equal CPU time."""

from __future__ import annotations

import math
from pathlib import Path

from rote.charts.style import BLUE, GREY, ORANGE, VERMILION, figure, save
from rote.experiments.files import write_text
from rote.experiments.lm_capacity.reading import LmCapacity
from rote.experiments.published_levels import ALLENZHU_2024, MORRIS_2025
from rote.report.markdown import table_lines
from studies.architectures import Study, StudyVariant, seconds_each

PUBLISHED = ((MORRIS_2025, "Morris et al. 2025"), (ALLENZHU_2024, "Allen-Zhu and Li 2024"))


def write_architectures_page(study: Study, page: Path, command: str) -> list[Path]:
    """Write the page and its figure beside it."""
    drawn = architectures_figure(study, page.with_suffix(".png"))
    return [write_text(page, "\n".join(_page(study, drawn.name, command)) + "\n"), drawn]


def _page(study: Study, drawn: str, command: str) -> list[str]:
    first = study.readings[0]
    totals = [reading.parameters.total for reading in study.readings]
    steps, shape = first.points[0].steps, first.shape
    lines = [
        "# Which architecture holds most per parameter", "",
        f"Models of {min(totals):,} to {max(totals):,} parameters are trained from scratch on random strings. A string "
        f"has {shape.key} key tokens, which are given and not counted, and {shape.counted} uniform tokens over a "
        f"vocabulary of {shape.vocab}. Held bits are {math.log2(shape.vocab):g} per token minus the code length under "
        f"the trained model. Training is full-batch for {steps:,} steps, with a learning rate tuned per architecture. "
        "The amount of data is varied until memorization peaks. Held-out strings are a control: they must show zero "
        "gain.", "",
        "Every number in the weights counts as a parameter, tied ones once. *Without embeddings* leaves out the "
        "tables looked up by token or by position, and the unembedding where it is tied to one. *95 % interval* is "
        "over seeds. Its upper end extrapolates to eight times the steps, assuming that no doubling gains more than "
        "the last measured one.", "",
        f"`{command}` writes this page and resumes after an interruption: "
        f"{sum(reading.seconds for _, reading in study.distinct) / 60:.0f} CPU minutes besides the search for "
        "learning rates.", "",
        f"![bits per parameter by architecture]({drawn})", "",
        "## Verdict", "", *_verdict(study), "",
    ]  # fmt: skip
    for question in dict.fromkeys(variant.question for variant in study.variants):
        rows = [(variant, reading) for variant, reading in study.rows if variant.question == question]
        lines += [f"## {question.capitalize()}", "", *_table(study, rows), ""]
    return [*lines, "## Precision", "", *_precision(study)]


def _table(study: Study, rows: list[tuple[StudyVariant, LmCapacity]]) -> list[str]:
    return table_lines(
        [
            "", "parameters", "of them embeddings", "bits per parameter", "without embeddings", "95 % interval",
            "eight times the steps", f"after {study.equal_seconds:.0f} s each", "s each", "rate", "fresh strings",
        ],
        [
            [
                variant.name, reading.parameters.total, reading.parameters.embeddings,
                f"{reading.bits_per_parameter:.2f} ± {reading.half_width:.2f}"
                + ("" if reading.plateau_in_sight else " or more"),
                f"{reading.without_embeddings:.2f}", f"{reading.interval.low:.2f}, {reading.interval.high:.2f}",
                _number(reading.with_more_steps), _number(study.at_equal_time(reading)),
                round(seconds_each(reading)), reading.rate,
                "nothing" if reading.check_holds else "EARN BITS",
            ]
            for variant, reading in rows
        ],
        [False, True, True, False, True, False, True, True, True, True, False],
    )  # fmt: skip


def _precision(study: Study) -> list[str]:
    """What survives of the held bits when trained weights are rounded, by architecture."""
    rows = [(variant, reading) for variant, reading in study.distinct if variant.question == "architecture"]
    names = list(rows[0][1].rounded)
    return [
        "Bits per parameter at the best load when the trained weights are rounded, without training again (float32 in "
        "training; *Q8_0*, *Q5_0*, *Q4_0*: GGUF's blocks of 32 with a scale each):", "",
        *table_lines(
            ["", "float32", *names],
            [
                [variant.name, _number(reading.bits_per_parameter), *(_number(reading.rounded[name]) for name in names)]
                for variant, reading in rows
            ],
            [False, *(True for _ in range(len(names) + 1))],
        ),
    ]  # fmt: skip


def _verdict(study: Study) -> list[str]:
    variant, best = study.distinct[0]
    worst_variant, worst = study.distinct[-1]
    timed = [(study.at_equal_time(reading), other) for other, reading in study.distinct]
    timed = [(held, other) for held, other in timed if math.isfinite(held)]
    quickest, quickest_variant = max(timed, key=lambda pair: pair[0])
    lines = [
        f"- Most per parameter at equal size: {_full_name(variant)}, {best.bits_per_parameter:.2f} ± "
        f"{best.half_width:.2f} bits ({best.without_embeddings:.2f} without embeddings). Least: "
        f"{_full_name(worst_variant)}, {worst.bits_per_parameter:.2f} ± {worst.half_width:.2f}.",
        f"- Most at equal CPU time ({study.equal_seconds:.0f} s per model): {_full_name(quickest_variant)}, "
        f"{quickest:.2f} bits.",
    ]
    for published, name in PUBLISHED:
        above = [other for other, reading in study.distinct if reading.interval.low > published]
        within = [
            other for other, reading in study.distinct if other not in above and reading.interval.high >= published
        ]  # fmt: skip
        count = len(study.distinct)
        lines.append(
            f"- **{published:g} bits per parameter** ({name}): {len(above)} of {count} architectures are above it, "
            f"{len(within)} cannot be told from it, {count - len(above) - len(within)} are below it, all weights "
            "counted. " + _without_embeddings(study, published)
        )
    return lines


def _without_embeddings(study: Study, published: float) -> str:
    over = [other for other, reading in study.distinct if (reading.without_embeddings or 0) > published]
    named = f": {', '.join(_full_name(other) for other in over)}" if 0 < len(over) <= 4 else ""
    return f"Embeddings not counted, {len(over)} of {len(study.distinct)} hold more{named}."


def _full_name(variant: StudyVariant) -> str:
    return variant.name if variant.question == "architecture" else f"{variant.model}, {variant.name}"


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.2f}"


def architectures_figure(study: Study, path: Path) -> Path:
    """Every architecture once, most first: held with its interval, after equal time, without embeddings."""
    rows = study.distinct
    with figure(7.2, 0.27 * len(rows) + 1.6) as drawn:
        axes = drawn.add_subplot()
        for published, name in PUBLISHED:
            axes.axvline(published, color=GREY, lw=0.9, ls="--", zorder=1)
            axes.annotate(
                f"{name}: {published:g}", (published, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -8),
                textcoords="offset points", fontsize=7, color=GREY,
            )  # fmt: skip
        for row, (_, reading) in enumerate(rows):
            half_width = reading.half_width if math.isfinite(reading.half_width) else 0.0
            axes.errorbar(
                reading.bits_per_parameter or 0, row, xerr=half_width, fmt="o", color=BLUE, ms=4.5, capsize=2,
                label="all weights counted" if row == 0 else None,
            )  # fmt: skip
            axes.plot(
                study.at_equal_time(reading), row, "v", color=ORANGE, ms=4.5,
                label=f"after {study.equal_seconds:.0f} s of training each" if row == 0 else None,
            )  # fmt: skip
            axes.plot(
                reading.without_embeddings or 0, row, "s", mfc="white", mec=VERMILION, ms=4.5,
                label="embeddings not counted" if row == 0 else None,
            )  # fmt: skip
        axes.set_yticks(range(len(rows)), [_full_name(variant) for variant, _ in rows], fontsize=7.5)
        axes.invert_yaxis()
        axes.set_ylim(len(rows) - 0.5, -1.2)
        axes.set_xlim(0, None)
        axes.set_xlabel("bits held per parameter")
        axes.set_title("bits per parameter by architecture")
        axes.grid(axis="x")
        axes.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.4, -0.1), ncols=3)
        return save(drawn, path)
