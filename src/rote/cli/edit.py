"""`rote edit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, bars, facts_of_graft
from rote.cli.output import AsJson, describe, print_json, print_pairs


def edit(
    model: str,
    changes: str | None = None,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    add: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    forget: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    forget_as: Literal["never-stored", "erased"] = "never-stored",
    keep_bits: Annotated[bool, Parameter(negative="")] = False,
    facts: Facts | None = None,
    control: Path | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> None:
    """Change, add and forget facts of a built model. Every other fact is kept, and all are certified.

    Examples:

    - `rote edit model --set "capital France=Lyon" -o model2`
    - `rote edit model changes.csv -o model2`
    - `rote edit model --forget "capital France" -o model2`

    Parameters
    ----------
    model
        A model folder that `rote build` or `rote edit` wrote, or a language model that `rote graft` wrote.
    changes
        A table with the key columns, the answer, and a column `change` (set, add or forget). Default: the flags below.
    output
        Folder to write the edited model into.
    set_
        A new answer for a stored key, "capital France=Lyon"; may be repeated.
    add
        A fact with a new key, "capital Atlantis=Poseidonis"; may be repeated.
    forget
        A stored key to forget, "capital France"; may be repeated.
    forget_as
        never-stored: the weights of a model built without the fact from the same random initialization.
        erased: logits near zero for every token.
    keep_bits
        Add each fact by a head that is exactly zero on all other keys: the logits of all other facts stay the same bit
        for bit.
    facts
        The facts that the model was built from. Default: the source that the model folder names.
    control
        The control text of a graft that was made with one.
    force
        Replace an existing model folder.
    """
    from rote.errors import InputError
    from rote.folders.destination import check_destination

    if (Path(model) / "graft.json").is_file():
        if keep_bits:
            raise InputError(f"{model}: is a graft, whose facts have neurons of their own; leave `--keep-bits` out")
        _edit_graft(Path(model), output, changes, set_, add, forget, facts, control, force, as_json)
        return
    check_destination(output, force)
    if changes is None and not (set_ or add or forget):
        raise InputError("there is nothing to change; name a table of changes, or give --set, --add or --forget")

    from rote.editing.edit import edited, subject_of
    from rote.editing.requested import asked, checked, written

    subject = subject_of(model, facts)
    items = [] if changes is None else asked(changes, subject.before)
    items += [written("set", text, subject.reader) for text in set_]
    items += [written("add", text, subject.reader) for text in add]
    items += [written("forget", text, subject.reader) for text in forget]
    result = edited(subject, checked(items, subject.before, subject.reader, forget_as), bars(), keep_bits)
    result.save(output, overwrite=force)
    summary = result.summary()
    if as_json:
        print_json({"folder": str(output), **summary})
        return
    certificate = result.certificate
    print_pairs(
        f"{output}: {certificate.recalled:,} of {certificate.facts:,} facts recalled after the edit",
        {
            "changed, added, forgotten": ", ".join(f"{count:,}" for count in result.counts.values()),
            "largest change of another margin": summary["largest_margin_change"],
            "smallest logit margin": certificate.min_margin,
            "method": summary["method"],
            "architecture": describe(result.model.spec),
            "parameters": certificate.parameters,
            "heads added": certificate.measured.get("heads_added", 0),
            "time": f"{result.seconds:.1f} s",
        },
    )


def _edit_graft(
    model: Path,
    output: Path,
    changes: str | None,
    set_: tuple[str, ...],
    add: tuple[str, ...],
    forget: tuple[str, ...],
    facts: str | None,
    control: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    from rote.errors import InputError
    from rote.lm.graft.edit import edit_graft
    from rote.lm.graft.graft import overview

    if changes is not None:
        raise InputError(f"{model}: is a graft, which takes --set, --add and --forget; leave the table of changes out")
    pairs = [dict(_pair(text) for text in texts) for texts in (set_, add)]
    made = edit_graft(
        model, facts_of_graft(model, facts, None)[1], output=output, change=pairs[0], add=pairs[1], forget=forget,
        control=control, overwrite=force, progress=bars(),
    )  # fmt: skip
    touched = {"emptied": made.emptied, "written": made.written, "kept": made.kept}
    if as_json:
        print_json({"folder": str(output), **touched, "certificate": made.certificate.model_dump(mode="json")})
        return
    neurons = f"{made.emptied:,} emptied, {made.written:,} written, {made.kept:,} kept in every bit"
    print_pairs(f"{output}: edited graft", {"neurons": neurons, **overview(made.record)})


def _pair(text: str) -> tuple[str, str]:
    from rote.errors import InputError

    key, sign, answer = text.partition("=")
    if not sign or not key.strip() or not answer.strip():
        raise InputError(f"{text!r}: write a key and its answer as KEY=ANSWER")
    return key.strip(), answer.strip()
