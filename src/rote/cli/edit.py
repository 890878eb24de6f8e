"""`rote edit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rote.cli.options import Facts, bars
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
    facts: Facts | None = None,
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
        A model folder that `rote build` or `rote edit` wrote.
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
    facts
        The facts that the model was built from. Default: the source that the model folder names.
    force
        Replace an existing model folder.
    """
    from rote.errors import InputError
    from rote.folders.destination import check_destination

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
    result = edited(subject, checked(items, subject.before, subject.reader, forget_as), bars())
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
