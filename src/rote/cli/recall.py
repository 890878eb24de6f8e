"""`rote recall`."""

from __future__ import annotations

from pathlib import Path

from rote.cli.options import Facts, ReadingOptions, bars, read_facts
from rote.cli.output import AsJson, print_json, print_pairs

SHOWN = 5


def recall(model: Path, facts: Facts, /, *, reading: ReadingOptions | None = None, as_json: AsJson = False) -> None:
    """How many of these facts a model recalls, beside the most that any model could.

    Example: `rote recall model airports`

    Parameters
    ----------
    model
        A model folder.
    """
    from rote.folders.layout import read_origin

    # Before tensors are loaded, which takes seconds: what is wrong with the facts.
    task = read_facts(facts, reading, read_origin(model).reading)

    from rote.folders import read_folder
    from rote.measure.measures import measures

    folder = read_folder(model)
    seen = measures(folder.model, task, bars())
    recalled = seen.recall
    if recalled is None:
        summary = {"facts": task.facts, "recalled": seen.recalled, "largest_error": seen.largest_error}
        print_json(summary) if as_json else print_pairs(f"{model} on {facts}", summary)
        return
    summary = {**recalled.summary(), "dtype": folder.model.dtype_name}
    if seen.divergence is not None:
        summary |= {"divergence": seen.divergence.expected, "uniform_divergence": seen.divergence.uniform}
    examples = [words for row in seen.missed[:SHOWN].tolist() if (words := task.fact_in_words(row)) is not None]
    if as_json:
        print_json({**summary, "missed_examples": examples})
        return
    print_pairs(
        f"{model} recalls {recalled.recalled:,} of {recalled.facts:,} facts of {facts}",
        {
            "recall": f"{recalled.recall:.2%}  (ceiling {recalled.ceiling:.2%})",
            "smallest margin": recalled.min_margin,
            "bits per parameter": recalled.bits_per_parameter,
            "parameters": recalled.parameters,
            "dtype": folder.model.dtype_name,
            **{
                name.replace("_", " "): summary[name]
                for name in ("divergence", "uniform_divergence")
                if name in summary
            },
            **({"missed, for example": "; ".join(examples)} if examples else {}),
        },
    )
