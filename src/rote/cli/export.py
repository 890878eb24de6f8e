"""`rote export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a model in another tool's format, ask every fact through that tool, and certify what it answers.

    Facts alone can be exported to lm-eval, as a task for any model that the harness runs.

    Examples: `rote export model --to llama -o plain`, `rote export airports --to lm-eval -o task`

    Parameters
    ----------
    model
        A model folder; for lm-eval also facts: a file, a generator or a named source.
    to
        llama, gpt2, gguf, transformerlens, huggingface, onnx, torch or lm-eval.
    output
        Folder to write into.
    facts
        The facts that the model was made for; read again from where they came from when absent.
    cache
        float16 to keep keys and values in half precision, as llama.cpp does by itself (llama, gpt2 and gguf).
    force
        Replace an exported folder that exists.
    """
    from rote.export import export_model, export_task
    from rote.folders.layout import CONFIG

    if to == "lm-eval" and not (Path(model) / CONFIG).is_file():
        if facts is not None or cache is not None:
            raise InputError(f"`facts` and `cache` go with a model folder, and {model} is none; leave them out")
        task = export_task(model, output, overwrite=force)
        if as_json:
            print_json({"folder": str(task.path), **task.certificate.model_dump(mode="json")})
        else:
            print(f"{task.path}: {task.certificate.facts:,} facts as a task for lm-evaluation-harness, all read there")
        return
    exported = export_model(model, to, output, facts, cache=cache, overwrite=force, progress=bars())
    certificate = exported.certificate
    if as_json:
        print_json({"folder": str(exported.path), **certificate.model_dump(mode="json")})
        return
    print_pairs(
        f"{exported.path}: {certificate.recalled:,} of {certificate.facts:,} facts recalled through {to}",
        {
            "runtime": ", ".join(f"{name} {release}" for name, release in certificate.runtime.items()),
            "read from text": certificate.read,
            "generated right": certificate.generated,
            "smallest margin": certificate.min_margin,
            "largest change of a margin": certificate.largest_margin_change,
            "parameters": certificate.parameters,
            "bytes": certificate.bytes,
            "tokens that compete": certificate.vocab,
            "dtype": certificate.dtype,
            "cache": certificate.cache_dtype,
        },
    )
