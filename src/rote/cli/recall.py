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
    from rote.folders.folder import read_folder
    from rote.measure.divergence import divergence
    from rote.measure.error import error
    from rote.measure.recall import recall as measure
    from rote.tasks import AssociationTask, DistributionTask, VectorTask

    folder = read_folder(model)
    task = read_facts(facts, reading, folder.origin.reading)
    if isinstance(task, VectorTask) and task.targets is not None:
        off = error(folder.model, task, bars())
        summary = {"facts": task.facts, "recalled": off.recalled, "largest_error": off.largest}
        print_json(summary) if as_json else print_pairs(f"{model} on {facts}", summary)
        return
    held = measure(folder.model, task, bars())
    summary = {**held.summary(), "dtype": folder.model.dtype_name}
    if isinstance(task, DistributionTask):
        found = divergence(folder.model, task, bars())
        summary |= {"divergence": found.expected, "uniform_divergence": found.uniform}
    examples = [str(task[int(row)]) for row in held.missed[:SHOWN]] if isinstance(task, AssociationTask) else []
    if as_json:
        print_json({**summary, "missed_examples": examples})
        return
    print_pairs(
        f"{model} recalls {held.recalled:,} of {held.facts:,} facts of {facts}",
        {
            "recall": f"{held.recall:.2%}  (ceiling {held.ceiling:.2%})",
            "smallest margin": held.min_margin,
            "bits per parameter": held.bits_per_parameter,
            "parameters": held.parameters,
            "dtype": folder.model.dtype_name,
            **{
                name.replace("_", " "): summary[name]
                for name in ("divergence", "uniform_divergence")
                if name in summary
            },
            **({"missed, for example": "; ".join(examples)} if examples else {}),
        },
    )
