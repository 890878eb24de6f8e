"""`rote graft`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, ReadingOptions, bars, read_facts
from rote.cli.output import AsJson, complain, print_json, print_pairs
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.lm.graft.adapter import AdapterCertificate
    from rote.lm.graft.record import GraftCertificate


def graft(
    model: Path,
    facts: Facts | None = None,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    template: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    paraphrase: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    relation: str | None = None,
    control: Path | None = None,
    never: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    locality: float = 0.1,
    end: str = ".",
    dtype: Literal["float32", "bfloat16", "float16"] | None = None,
    gguf: str | None = None,
    as_: Annotated[Literal["checkpoint", "adapter", "hook", "gguf"], Parameter(name="--as")] = "checkpoint",
    rank: int | None = None,
    remove: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Store facts in a language model without training, and leave everything else in it unchanged.

    Layers are appended after the last one, with one gated neuron per answer token. The result is a plain checkpoint of
    a stock class, with a certificate made by generating every answer. Exits 1 if a fact is missed.

    Examples:

    - `rote graft smollm2 capitals.csv --template "The capital of {country} is" -o grafted`
    - `rote graft grafted --remove -o original`
    - `rote graft smollm2 capitals.csv --template "The capital of {country} is" --as adapter -o adapter`
    - `rote graft grafted --as gguf --gguf smollm2.gguf -o for-llama-cpp`

    Parameters
    ----------
    model
        A Hugging Face folder or a GGUF file: Llama, Mistral or Qwen2 without a sliding window, or GPT-2.
    facts
        A file, a generator or a named source.
    output
        Folder to write into.
    template
        Prompt with the columns in braces; may be repeated. `countries` comes with templates.
    paraphrase
        Prompt that the solve never sees; the certificate counts the facts that follow it. May be repeated.
    relation
        Store only the facts of this relation. Default: all relations.
    control
        Text file on which nothing may change. Default: the prose of Python's documentation.
    never
        A subject to leave alone, besides names that rote makes up; may be repeated.
    locality
        Place of each gate's threshold, 0.05 to 0.95. Low: more paraphrases answered. High: fewer unknown subjects.
    end
        What closes each answer; empty for nothing.
    dtype
        Dtype of the saved weights. Default: that of the checkpoint; float32 for GGUF.
    gguf
        The GGUF file to load, if a folder has several. With --as gguf: the file that the grafted model came from.
    as_
        checkpoint: a plain model. adapter: a LoRA of the last down-projection, for PEFT. hook: a model that rote built,
        asked while the language model generates. gguf: MODEL is a graft, written as one file for llama.cpp.
    rank
        Truncate an adapter to this rank, which may miss facts. Default: exact.
    remove
        MODEL is a graft: write the model that it was made from, every weight bit for bit.
    force
        Replace an existing grafted folder.
    """
    from rote.lm.graft.graft import graft as store
    from rote.lm.graft.graft import overview, ungraft
    from rote.tasks.origin import Reading

    if remove:
        if facts is not None or template or paraphrase:
            raise InputError("`remove` takes a grafted folder and --output alone; leave facts and templates out")
        path = ungraft(model, output, overwrite=force)
        if as_json:
            print_json({"folder": str(path)})
        else:
            print(f"{path}: the model without its graft, every weight as it was")
        return 0
    if as_ == "gguf":
        from rote.lm.graft.gguf_file import graft_gguf

        if facts is not None or gguf is None:
            raise InputError("`as gguf` takes a grafted folder, --gguf with its source, and --output; leave facts out")
        file = graft_gguf(model, gguf, output, overwrite=force)
        if as_json:
            print_json({"file": str(file)})
        else:
            print(f"{file}: the graft for llama.cpp")
        return 0
    if rank is not None and as_ != "adapter":
        raise InputError("`rank` belongs to --as adapter; a checkpoint and a hook have none")
    if facts is None:
        raise InputError("`facts`: missing; give a file, a generator or a named source")
    task = read_facts(facts, reading, Reading(keys="words"))
    common = {"relation": relation, "end": end, "overwrite": force, "progress": bars()}
    if as_ == "hook":
        from rote.lm.graft.hook import graft_hook

        hook = graft_hook(task, template, output=output, **common)
        if as_json:
            print_json({"folder": str(hook)})
        else:
            print(f"{hook}: {task.facts:,} facts; load with rote.load_hook, give it to generate as logits_processor")
        return 0
    if as_ == "adapter":
        from rote.lm.graft.adapter import adapter_overview, graft_adapter

        adapter = graft_adapter(
            model, task, template, output=output, paraphrases=paraphrase, control=control, rank=rank, gguf=gguf,
            **common,
        )  # fmt: skip
        if as_json:
            print_json({"folder": str(adapter.path), **adapter.record.model_dump(mode="json")})
        else:
            print_pairs(f"{adapter.path}: {facts} for {model}", adapter_overview(adapter.record))
        return _complete(adapter.record.certificate)
    made = store(
        model, task, template, output=output, paraphrases=paraphrase, control=control, never=never, locality=locality,
        dtype=dtype, gguf=gguf, **common,
    )  # fmt: skip
    if as_json:
        document = made.record.model_dump(mode="json", exclude={"original_config"})
        print_json({"folder": str(made.path), **document, "seconds": made.seconds})
    else:
        print_pairs(f"{made.path}: {facts} in {model}", overview(made.record))
    return _complete(made.certificate)


def _complete(certificate: GraftCertificate | AdapterCertificate) -> int:
    missed = certificate.facts - certificate.recalled
    return 0 if not missed else complain(f"{missed:,} facts are not answered right under every template", 1)
