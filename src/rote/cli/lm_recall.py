"""`rote lm recall`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rote.cli.options import (
    Facts,
    LoadingOptions,
    ReadingOptions,
    bars,
    counted_as_parameters,
    load_language_model,
    read_facts,
)
from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.errors import InputError
from rote.words import cell, command

if TYPE_CHECKING:
    from rote.lm.recall import LanguageRecall


def recall(
    model: Path,
    facts: Facts,
    /,
    *,
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    relation: str | None = None,
    expect: Literal["all"] | None = None,
    replies: Path | None = None,
    batch: int = 64,
    loading: LoadingOptions | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Measure how many facts a language model recalls, asked in words by your templates.

    A template names the table's columns, as in "The capital of {country} is". `countries` comes with templates.

    Example: `rote lm recall gpt2 capitals.csv --template "The capital of {country} is"`

    Parameters
    ----------
    model
        A Hugging Face folder, a GGUF file, or a name in the local cache.
    facts
        A file, a generator or a named source.
    template
        Prompt with the columns in braces; repeat it for a mean and a spread over templates.
    relation
        Ask only for the facts of this relation. Default: all relations.
    expect
        all: exit 1 if the model misses a fact.
    replies
        Also write every reply to this CSV file.
    batch
        Prompts per forward pass.
    """
    from rote.lm.recall import language_recall
    from rote.lm.weight_files import is_rote_folder
    from rote.tasks import AssociationTask, Reading

    if is_rote_folder(model):
        raise InputError(
            f"{model}: a rote model, which reads its own tokens and not words; use `{command('rote', 'recall', model)}`"
        )
    if replies is not None and replies.suffix != ".csv":
        raise InputError(f"`replies`: {replies} must end in .csv")
    # A prompt is made of complete cells, however a rote model would read them.
    task = read_facts(facts, reading, Reading(keys="words"))
    if not isinstance(task, AssociationTask):
        raise InputError(f"{facts}: a language model is asked for facts with one answer each, not for distributions")
    result = language_recall(
        load_language_model(model, loading), task, template, relation=relation, batch=batch, progress=bars()
    )
    if replies is not None:
        _write_replies(result, replies)
    if as_json:
        print_json(_document(result))
    else:
        _show(result, f"{model} on {facts}", replies)
    return 1 if expect == "all" and not all(reply.whole_answer for reply in result.replies) else 0


def _document(result: LanguageRecall) -> dict[str, Any]:
    return {
        "model": result.model,
        "dtype": result.dtype,
        "parameters": result.parameters.total,
        "embedding_parameters": result.parameters.embeddings,
        "ceiling": result.ceiling,
        "bits": result.bits,
        "bits_per_parameter": result.bits_per_parameter,
        "relations": [
            {
                "relation": relation,
                **{
                    name: dict(zip(("mean", "spread"), result.spread(relation, name), strict=True))
                    for name in ("first_token", "whole_answer", "choice", "bits")
                },
                "templates": [
                    {"template": text, **result.tally(text, relation).summary()}
                    for text in dict.fromkeys(
                        reply.template for reply in result.replies if relation in (None, reply.relation)
                    )
                ],
            }
            for relation in result.relations
        ],
    }


def _show(result: LanguageRecall, title: str, replies: Path | None) -> None:
    rows = []
    for relation in result.relations:
        for text in dict.fromkeys(reply.template for reply in result.replies if relation in (None, reply.relation)):
            tally = result.tally(text, relation)
            shares = []
            for measure in ("first_token", "whole_answer", "choice"):
                low, high = tally.interval(measure)
                shares += [tally.right[measure], f"{low:.0%}-{high:.0%}"]
            rows.append([relation or "", tally.facts, *shares, round(tally.bits, 1), text])
    columns = ["relation", "facts", "first token", "95 %", "full answer", "95 %", "choice", "95 %", "bits", "template"]
    print_table(title, columns, rows)
    spreads = {
        f"{relation or 'all'}, over templates": ", ".join(
            f"{name.replace('_', ' ')} {mean:.1%} +- {spread:.1%}"
            for name in ("first_token", "whole_answer", "choice")
            for mean, spread in (result.spread(relation, name),)
        )
        for relation in result.relations
        if len({reply.template for reply in result.replies if relation in (None, reply.relation)}) > 1
    }
    print_pairs(
        "all relations",
        {
            **spreads,
            "ceiling": f"{result.ceiling:.2%}",
            "bits (cross-entropy estimate)": f"{result.bits:,.1f}",
            "bits per parameter": f"{result.bits_per_parameter:.3g}",
            "parameters": counted_as_parameters(result.parameters),
            "dtype": result.dtype,
            **({"replies": str(replies)} if replies else {}),
        },
    )


def _write_replies(result: LanguageRecall, path: Path) -> None:
    """One line per fact and template, complete or not at all."""
    import csv

    from rote.files import replacing

    names = ["relation", "template", "prompt", "answer", "said", "chosen", "first_token", "whole_answer", "choice"]
    with replacing(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "log2_probability", "neutral_log2_probability", "bits"])
        for reply in result.replies:
            numbers = (reply.log2_probability, reply.neutral_log2_probability, reply.bits)
            writer.writerow([*(cell(getattr(reply, name)) for name in names), *(f"{value:.4f}" for value in numbers)])
