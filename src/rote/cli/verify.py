"""`rote verify`."""

from __future__ import annotations

from pathlib import Path

from rote.cli.options import Facts, ReadingOptions, bars, facts_of, facts_of_graft, read_facts
from rote.cli.output import AsJson, print_folded, print_json, print_table
from rote.display import number

SHOWN = 10


def verify(
    model: Path,
    facts: Facts | None = None,
    /,
    *,
    control: Path | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Recompute a model's certificate from its tensors and the facts, trusting nothing else in the folder.

    Exits 1, naming the facts that fail, if any statement does not hold.

    Example: `rote verify model airports`

    Parameters
    ----------
    model
        A model folder; a folder written by `rote export`, whose facts are then asked through that tool; or one
        written by `rote graft`, whose facts are asked in words.
    facts
        A file, a generator or a named source. Default: the source that the model folder names.
    control
        The control text of a graft that was made with one.
    """
    from rote.folders.layout import is_export, source_of
    from rote.lm.graft.record import is_graft

    # Before tensors are loaded, which takes seconds: what is wrong with the facts.
    if is_graft(model):
        named, task = facts_of_graft(model, facts, reading)
    elif facts is not None and is_export(model) and not source_of(model).exists():
        named, task = facts, read_facts(facts, reading)
    else:
        named, task = facts_of(source_of(model), facts, reading)
    if is_graft(model):
        from rote.lm.graft.graft import verify_graft

        verdict = verify_graft(model, task, control, bars())
    elif is_export(model):
        from rote.export import verify_export

        verdict = verify_export(model, task, bars())
    else:
        from rote.folders import read_folder
        from rote.folders import verify as verify_folder

        verdict = verify_folder(read_folder(model), task, bars())
    missed = [task.fact_in_words(row) or row for row in verdict.missed.tolist()]
    if as_json:
        print_json(
            {
                "holds": verdict.holds,
                "checks": [vars(check) for check in verdict.checks],
                "missed": len(missed),
                "missed_facts": missed,
            }
        )
        return 0 if verdict.holds else 1
    print_table(
        f"{model} against {named}",
        ["statement", "certificate", "recomputed", ""],
        [
            [check.name, stated := _cut(check.stated), _same_or(check.remade, stated), check.outcome]
            for check in verdict.checks
            if not check.claimed and (check.stated, check.remade) != (None, None)
        ],
    )
    if verdict.claimed:
        claims = (f"{check.name.removeprefix('measured ')} {_cut(check.stated)}" for check in verdict.claimed)
        print_folded(f"only claimed, not recomputed: {', '.join(claims)}")
        print()
    if verdict.holds:
        claimed = f"; {len(verdict.claimed)} others are only claimed" if verdict.claimed else ""
        asked = [check.stated for check in verdict.checks if check.name == "asked" and check.stated is not None]
        facts_asked = f"{asked[0]:,} of {task.facts:,}" if asked else f"{task.facts:,}"
        print(f"verified: every statement that can be recomputed holds for {facts_asked} facts{claimed}")
        return 0
    print(f"NOT verified: {sum(not check.holds for check in verdict.checks)} statements do not hold")
    if missed:
        more = f" and {len(missed) - SHOWN:,} more" if len(missed) > SHOWN else ""
        print(f"facts that fail: {'; '.join(map(str, missed[:SHOWN]))}{more}")
    elif not any(check.holds for check in verdict.checks if check.name == "weights_fingerprint"):
        print("every fact is still recalled, but these are not the weights that were certified")
    return 1


def _same_or(value: object, stated: str) -> str:
    """The recomputed value, unless it reads as the stated one does: the table then fits 80 columns."""
    text = _cut(value)
    return "same" if text == stated else text


def _cut(value: object) -> str:
    text = number(value)
    return text[:17] + "…" if text.startswith("sha256:") else text
