"""`rote recall`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, facts_of
from rote.cli.output import AsJson, print_json, print_pairs
from rote.errors import InputError
from rote.words import command

if TYPE_CHECKING:
    from rote.export.as_format import FormatRecall
    from rote.folders.folder import Folder
    from rote.measure.recall import Recall
    from rote.models.model import Model
    from rote.tasks.task import Task

SHOWN = 5


def recall(
    model: Path,
    facts: Facts | None = None,
    /,
    *,
    as_: Annotated[str | None, Parameter(name="--as")] = None,
    made_up: int | None = None,
    expect: Literal["all"] | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Measure how many facts a model recalls, compared with the most that any model could.

    A fact is recalled if its answer has the strictly largest logit.

    Examples:

    - `rote recall model airports`
    - `rote recall model --as Q4_0`

    Parameters
    ----------
    model
        A model folder. For a language model use `rote lm recall`.
    facts
        A file, a generator or a named source. Default: the source that the model folder names.
    as_
        Report what would be recalled with weights of few bits, before an export: Q8_0, Q5_0, Q5_1, Q4_0, Q4_1, MXFP4,
        TQ1_0 or TQ2_0 as llama.cpp computes them; int8, int6, int4, levels12, int3 or ternary rounded to nearest.
    made_up
        Ask so many made-up keys that were never stored, and report how many are called unknown, with a 95 % interval
        (models that were built with --unknown).
    expect
        all: exit 1 if the model misses a fact that a model can recall.
    """
    from rote.folders.layout import is_export

    if is_export(model):
        raise InputError(f"{model}: an export of rote; `rote verify {model}` asks it for every fact")
    if _is_language_model(model):
        raise InputError(
            f"{model}: a language model, which is asked in words; use `{command('rote', 'lm', 'recall', model)} FACTS`"
        )
    # Before tensors are loaded, which takes seconds: what is wrong with the facts.
    named, task = facts_of(model, facts, reading)

    from rote.folders import read_folder
    from rote.measure.measures import measures

    folder = read_folder(model)
    if as_ is not None:
        return _recall_as(folder, task, as_, named, expect, as_json)
    if made_up is not None:
        return _recall_made_up(folder, task, made_up, as_json)
    seen = measures(folder.model, task, bars())
    recalled = seen.recall
    if recalled is None:
        summary = {"facts": task.facts, "recalled": seen.recalled, "largest_error": seen.largest_error}
        print_json(summary) if as_json else print_pairs(f"{model} on {named}", summary)
        return _code(expect, seen.recalled == task.facts)
    summary = {**recalled.summary(), "dtype": folder.model.precision_name}
    if seen.divergence is not None:
        summary |= {"divergence": seen.divergence.expected, "uniform_divergence": seen.divergence.uniform}
    examples = _missed(folder.model, task, recalled)
    if as_json:
        print_json({**summary, "missed": len(recalled.missed), "missed_examples": examples})
        return _code(expect, recalled.complete)
    print_pairs(
        f"{model} recalls {recalled.recalled:,} of {recalled.facts:,} facts of {named}",
        {
            "accuracy": f"{recalled.recall:.2%}  (ceiling {recalled.ceiling:.2%})",
            "smallest logit margin": recalled.min_margin,
            "bits per parameter": recalled.bits_per_parameter,
            "parameters": recalled.parameters,
            "dtype": folder.model.precision_name,
            **{
                name.replace("_", " "): summary[name]
                for name in ("divergence", "uniform_divergence")
                if name in summary
            },
            **({"missed, for example": _in_words(examples)} if examples else {}),
        },
    )
    return _code(expect, recalled.complete)


def _recall_as(folder: Folder, task: Task, name: str, named: str, expect: str | None, as_json: bool) -> int:
    """What would be recalled in a format of few bits."""
    from rote.export.as_format import recall_as

    seen = recall_as(folder, name, task, bars())
    examples = _missed(folder.model, task, seen)
    if as_json:
        print_json({**seen.summary(), "missed_examples": examples})
    else:
        print_pairs(
            f"{folder.path} as {name} recalls {seen.recalled:,} of {seen.facts:,} facts of {named}",
            {
                "as it is": f"{seen.recalled_before:,} recalled, in {folder.model.precision_name}",
                "smallest logit margin": seen.min_margin,
                **({"lost, for example": _in_words(examples)} if examples else {}),
            },
        )
    return _code(expect, seen.recalled >= seen.recalled_before)


def _recall_made_up(folder: Folder, task: Task, keys: int, as_json: bool) -> int:
    """What a model makes of keys that nobody stored."""
    from rote.measure.abstention import abstention

    if keys < 1:
        raise InputError(f"`made_up={keys}`: must be at least 1")
    seen = abstention(folder.model, task, keys)
    stated = {} if folder.certificate is None else folder.certificate.measured
    before = stated.get("unknown_rate")
    if as_json:
        print_json({**seen.summary(), "stated_before": before})
    else:
        print_pairs(
            f"{folder.path} calls {seen.unknown:,} of {seen.asked:,} made-up keys unknown",
            {
                "rate": f"{seen.rate:.2%}",
                "95 % interval": f"{seen.interval.low:.2%} to {seen.interval.high:.2%}",
                **({"stated when it was built": f"{before:.2%}"} if isinstance(before, float) else {}),
            },
        )
    return 0


def _in_words(examples: list[dict[str, Any]]) -> str:
    return "; ".join(f"{miss['fact']} (answered {miss['said']})" for miss in examples)


def _is_language_model(model: Path) -> bool:
    """A configuration that is not rote's, a GGUF file, or `owner/name`, which is a name in the cache."""
    from rote.lm.weight_files import is_hugging_face

    return is_hugging_face(model) or (not model.exists() and len(model.parts) == 2 and not model.is_absolute())


def _missed(model: Model, task: Task, recalled: Recall | FormatRecall) -> list[dict[str, Any]]:
    """Some of the facts that are missed, with what the model says instead."""
    words = None if model.vocabulary is None else model.vocabulary.tokens
    return [
        {"fact": fact, "said": token if words is None else words[token] if token < len(words) else "no answer"}
        for row, token in zip(recalled.missed[:SHOWN].tolist(), recalled.said[:SHOWN].tolist(), strict=True)
        if (fact := task.fact_in_words(row)) is not None
    ]


def _code(expect: str | None, complete: bool) -> int:
    return 1 if expect == "all" and not complete else 0
