"""`rote export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rote.cli.options import Facts, bars
from rote.cli.output import AsJson, print_json, print_pairs


def export(
    model: Path,
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

    Example: `rote export model --to llama -o plain`

    Parameters
    ----------
    model
        A model folder.
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
    from rote.export import export_model

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
