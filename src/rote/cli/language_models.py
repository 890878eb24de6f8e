"""Options that commands on language models share, and what `rote recall` prints of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from rote.cli.options import ReadingOptions, bars, read_facts
from rote.cli.output import print_json, print_pairs, print_table
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.lm.language_model import LanguageModel, ParameterCount
    from rote.lm.recall import LanguageRecall

LOADING = Group("Loading a language model", sort_key=91)


@Parameter(name="*", group=LOADING)
@dataclass(frozen=True)
class LoadingOptions:
    """How a language model is loaded."""

    gguf: str | None = None
    "The GGUF file to load, where a folder holds several."
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    "Numbers of the weights."
    device: str = "cpu"
    "Any device that torch knows."
    download: Annotated[bool, Parameter(negative="")] = False
    "Allow the network; without it only local files are read."
    remote_code: Annotated[bool, Parameter(negative="")] = False
    "Allow Python code that comes with the model to run."


def load_language_model(model: Path, options: LoadingOptions | None, attentions: bool = False) -> LanguageModel:
    from rote.lm.loading import load_language_model as load

    chosen = options or LoadingOptions()
    return load(
        str(model), gguf=chosen.gguf, dtype=chosen.dtype, device=chosen.device, download=chosen.download,
        remote_code=chosen.remote_code, attentions=attentions,
    )  # fmt: skip


def counted_as_parameters(counted: ParameterCount) -> str:
    """Every count says what it counts."""
    return f"{counted.total:,} (all weights, tied ones once; {counted.embeddings:,} of them embedding tables)"


def show_language_recall(
    model: Path,
    facts: str | None,
    templates: tuple[str, ...],
    relation: str | None,
    replies: Path | None,
    batch: int,
    loading: LoadingOptions | None,
    reading: ReadingOptions | None,
    as_json: bool,
) -> bool:
    """Ask a language model and print what it recalls; whether it says every answer whole."""
    from rote.lm.recall import language_recall
    from rote.lm.weight_files import is_rote_folder
    from rote.tasks import AssociationTask
    from rote.tasks.origin import Reading

    if is_rote_folder(model):
        raise InputError(
            f"{model}: a rote model reads its own tokens, not words; leave `template`, `relation` and `replies` out"
        )
    if facts is None:
        raise InputError(f"{model}: a language model was made from no table of facts; name the facts to ask for")
    if replies is not None and replies.suffix != ".csv":
        raise InputError(f"`replies`: {replies} must end in .csv")
    # A prompt is made of whole cells, however a rote model would read them.
    task = read_facts(facts, reading, Reading(keys="words"))
    if not isinstance(task, AssociationTask):
        raise InputError(f"{facts}: a language model is asked for facts with one answer each, not for distributions")
    result = language_recall(
        load_language_model(model, loading), task, templates, relation=relation, batch=batch, progress=bars()
    )
    if replies is not None:
        _write_replies(result, replies)
    if as_json:
        print_json(_document(result))
    else:
        _show(result, f"{model} on {facts}", replies)
    return all(reply.whole_answer for reply in result.replies)


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
    columns = ["relation", "facts", "first token", "95 %", "whole", "95 %", "choice", "95 %", "bits", "template"]
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
        "in all",
        {
            **spreads,
            "ceiling": f"{result.ceiling:.2%}",
            "bits by the code": f"{result.bits:,.1f}",
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
            writer.writerow([*(getattr(reply, name) for name in names), *(f"{value:.4f}" for value in numbers)])
