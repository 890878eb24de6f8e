"""`rote export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, bars
from rote.cli.output import AsJson, print_json, print_pairs
from rote.errors import InputError


def export(
    model: str,
    /,
    *,
    to: str,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    facts: Facts | None = None,
    cache: str | None = None,
    format_: Annotated[str | None, Parameter(name="--format")] = None,
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    answers: Literal["one", "words"] = "one",
    sample: int | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """Export a model to another tool, and certify every fact as that tool answers it.

    `rote list targets` has the formats. Facts alone can be exported to lm-eval, as a task for any model.

    Examples:

    - `rote export model --to llama -o plain`
    - `rote export airports --to lm-eval -o task`

    Parameters
    ----------
    model
        A model folder; for lm-eval also facts: a file, a generator or a named source.
    to
        Target: llama, gpt2, gguf, transformerlens, huggingface, onnx, torch or lm-eval.
    output
        Folder to write into.
    facts
        The facts that the model stores. Default: the source that the model folder names.
    cache
        float16: keep the key-value cache in half precision, the default of llama.cpp (llama, gpt2 and gguf).
        Default: float32.
    format_
        Format of few bits: Q8_0, Q5_0, Q5_1, Q4_0, Q4_1, MXFP4, TQ1_0 or TQ2_0 (gguf), int8 (llama, onnx) or int4
        (onnx). int8 and int4 require a model built or trained in that precision, or with fewer levels.
        Default: float32.
    template
        A sentence that the exported tokenizer reads as a key, "The {relation} of {country} is"; may be repeated.
        {relation=capital} is a column of one value, {relation=currency|money} with other words for it.
        Default: the templates given to `rote build`.
    answers
        one: an answer is one token. words: it is written word by word and ends by itself (llama and gpt2).
    sample
        Number of facts to ask: half with the smallest margins, half spread evenly. The certificate states it. Default:
        every fact.
    force
        Replace an existing exported folder.
    """
    from rote.export import export_model, export_task
    from rote.folders.layout import CONFIG

    if to == "lm-eval" and not (Path(model) / CONFIG).is_file():
        if facts is not None or cache is not None or format_ is not None or template:
            raise InputError(
                f"`facts`, `template`, `cache` and `format` go with a model folder, and {model} is none; leave them out"
            )
        task = export_task(model, output, overwrite=force)
        if as_json:
            print_json({"folder": str(task.path), **task.certificate.model_dump(mode="json")})
        else:
            print(f"{task.path}: {task.certificate.facts:,} facts as a task for lm-evaluation-harness, all read there")
        return
    exported = export_model(
        model,
        to,
        output,
        facts,
        cache=cache,
        format=format_,
        templates=template or None,
        answers=answers,
        sample=sample,
        overwrite=force,
        progress=bars(),
    )
    certificate = exported.certificate
    if as_json:
        print_json({"folder": str(exported.path), **certificate.model_dump(mode="json")})
        return
    of = "" if certificate.asked is None else f" asked, of {certificate.facts:,} stored,"
    print_pairs(
        f"{exported.path}: {certificate.recalled:,} of {certificate.checked:,} facts{of} recalled through {to}",
        {
            "runtime": ", ".join(f"{name} {release}" for name, release in certificate.runtime.items()),
            "read from text": certificate.read,
            "generated right": certificate.generated,
            **({"sentences read": certificate.sentences_read} if certificate.sentences else {}),
            "smallest logit margin": certificate.min_margin,
            "largest margin change": certificate.largest_margin_change,
            "parameters": certificate.parameters,
            "bytes": certificate.bytes,
            "vocabulary": certificate.vocab,
            "dtype": certificate.dtype,
            "key-value cache": certificate.cache_dtype,
        },
    )
