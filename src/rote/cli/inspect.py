"""`rote inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rote.cli.inspect_lm import LmInspectOptions, inspect_components, inspect_lm, is_language_model
from rote.cli.options import LoadingOptions, ReadingOptions, bars, facts_of
from rote.cli.output import AsJson, print_json, print_pairs, print_table
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.measure.inspection import Contribution, HeadIndex, Inspection
    from rote.models.model import Model

SHOWN = 12
"""Lines of a table on the screen."""
FEW = 3
"""Facts of a slot on the screen."""


def inspect(
    model: Path,
    /,
    *words: Annotated[str, Parameter(name="KEY", help="The key of a fact. Default: all facts and heads.")],
    off: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    facts: str | None = None,
    lm: LmInspectOptions | None = None,
    loading: LoadingOptions | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> int:
    """Attribute an answer to heads: direct logit attribution (DLA) and zero-ablation.

    For one fact: what each head and the direct path (residual stream) add to the logits, and the logit margin with that
    part set to zero. Without a key: every head's ablation impact over all facts. That is not storage: ablating one head
    also removes what other heads cancel, so that impacts add up to more facts than there are. Exits 1 if the fact is
    not recalled.

    In a memory layer a head reads one slot of the key's group. The slot, what it adds to the number that is read, and
    the other facts that read it are shown instead of attention.

    A language model (Llama type or GPT-2) is asked in words, by a template. Its heads and MLPs are also mean-ablated,
    and patched into a run on another subject. With `effect`, `csv`, `figure` or `sets` a rote model is inspected in the
    same way.

    Examples:

    - `rote inspect model capital France`
    - `rote inspect model --off 0.3 0.7`
    - `rote inspect smollm2 capital France --facts countries`
    - `rote inspect gpt2 --facts mine.csv --template "The capital of {country} is"`

    Parameters
    ----------
    model
        A model folder of an architecture with heads or a memory layer, a Hugging Face folder, or a GGUF file.
    off
        Heads to set to zero first, as LAYER.HEAD counted from 0.
    facts
        The facts that the model stores. Default: the source that the folder names.
    """
    if is_language_model(model):
        return inspect_lm(model, words, off, facts, lm, loading, reading, as_json)
    from rote.folders import read_folder
    from rote.measure.inspection import inspect as take_apart

    heads = _heads(off)
    opened = read_folder(model).model
    if lm is not None or loading is not None:
        if heads:
            raise InputError("`off`: components are ablated one by one; leave out `off`, or the other options")
        name, task = facts_of(model, facts, reading)
        return inspect_components(opened, task, name, words, lm or LmInspectOptions(), loading, as_json)
    seen = take_apart(opened, words, off=heads) if words else None
    shared = None if seen is None else _shared(opened, model, facts, reading, seen)
    lost = _lost(opened, model, facts, reading, heads) if heads else None
    if seen is not None:
        if as_json:
            more = {} if lost is None else {"facts_lost": lost}
            print_json({**seen.summary(), **more, **({} if shared is None else {"shared_slots": shared})})
        else:
            _show(seen, lost, shared)
        return 0 if seen.recalled else 1
    return _overview(opened, model, facts, reading, heads, lost, as_json)


def _heads(off: tuple[str, ...]) -> list[HeadIndex]:
    from rote.measure.inspection import heads_named

    return heads_named(",".join(off))


def _lost(
    opened: Model, folder: Path, facts: str | None, reading: ReadingOptions | None, heads: list[HeadIndex]
) -> list[str]:
    """Facts lost when these heads are ablated, in words."""
    from rote.measure.head_use import facts_lost

    task = facts_of(folder, facts, reading)[1]
    return [str(task.fact_in_words(int(row))) for row in facts_lost(opened, task, heads, bars())]


def _shared(
    opened: Model, folder: Path, facts: str | None, reading: ReadingOptions | None, seen: Inspection
) -> list[dict[str, Any]] | None:
    """The slots of a memory layer that a fact reads, each with the other facts in words; None for other models."""
    from rote.measure.slot_sharing import shared_slots
    from rote.tasks import require_tokens

    if all(part.slot is None for part in seen.contributions):
        return None
    task = require_tokens(facts_of(folder, facts, reading)[1], "slots are read for tokens")
    return [
        {
            "head": f"0.{each.head}",
            "group": each.slot.group,
            "slot": each.slot.slot,
            "read_by": [str(task.fact_in_words(row)) for row in each.facts],
            "lost": [str(task.fact_in_words(row)) for row in each.lost],
        }
        for each in shared_slots(opened, task, seen, bars())
    ]


def _overview(
    opened: Model,
    folder: Path,
    facts: str | None,
    reading: ReadingOptions | None,
    heads: list[HeadIndex],
    lost: list[str] | None,
    as_json: bool,
) -> int:
    from rote.measure.head_use import head_table
    from rote.measure.inspection import without_heads

    name, task = facts_of(folder, facts, reading)
    table = head_table(without_heads(opened, heads), task, bars())
    if as_json:
        print_json({**table.summary(), **({} if lost is None else {"facts_lost": lost})})
        return 0
    weakest = [[task.fact_in_words(int(row)), float(table.margins[row])] for row in table.by_margin()[:SHOWN]]
    print_table(
        f"{name}: {table.recalled:,} of {task.facts:,} recalled; smallest logit margins",
        ["fact", "logit margin"],
        weakest,
    )
    order = sorted(table.heads, key=lambda head: (-(head.loses or head.decides), -abs(head.mean_to_margin)))
    more = f", {SHOWN} of {len(order)}" if len(order) > SHOWN else ""
    memory = opened.spec.architecture == "memory-transformer"
    rest = "the bias and the MLP add" if memory else "the direct path adds"
    print_table(
        f"ablation impact by head{more}; {rest} {table.skip_to_margin:.3g} to the margin on average",
        ["head", "facts lost", "mean DLA", "largest DLA", "largest DLA at"],
        [
            [use.name, use.loses, use.mean_to_margin, use.largest_to_margin, str(task.fact_in_words(use.strongest[0]))]
            for use in order[:SHOWN]
        ],
    )
    _tell_lost(lost)
    return 0


def _show(seen: Inspection, lost: list[str] | None, shared: list[dict[str, Any]] | None) -> None:
    pairs: dict[str, Any] = {
        "key": " ".join(seen.key),
        "logit": seen.answer_logit,
        "runner-up": f"{seen.nearest} ({seen.nearest_logit:.4g})",
        "logit margin": seen.margin,
        "lost without": _named(seen.needed) or "no single part",
    }
    if seen.off:
        pairs["answer after ablation"] = seen.said
        pairs["ablated"] = ", ".join(map(str, seen.off))
    print_pairs(seen.answer, pairs)
    order = sorted(seen.contributions, key=lambda part: -abs(part.to_margin))
    shown = order[:SHOWN]
    rest = order[SHOWN:]
    rows: list[list[Any]] = [
        [
            part.name,
            part.to_answer,
            part.to_nearest,
            part.to_margin,
            part.margin_without,
            _read_by(part, seen.tokens),
        ]
        for part in shown
    ]
    if rest:
        added = [sum(part.to_answer for part in rest), sum(part.to_nearest for part in rest)]
        rows.append([f"{len(rest)} others", *added, added[0] - added[1], None, ""])
    rows.append(["sum", seen.answer_logit, seen.nearest_logit, seen.margin, None, ""])
    reads = "attends to" if shared is None else "reads"
    columns = ["part", "to the answer", f"to {seen.nearest}", "to the margin", "margin if ablated", reads]
    print_table("direct logit attribution, and the logit margin after zero-ablation", columns, rows)
    if shared is not None:
        print_table(
            f"group {shared[0]['group']} of the memory: other facts that read each slot, and those lost without it",
            ["head", "slot", "read by", "lost", "facts"],
            [[each["head"], each["slot"], len(each["read_by"]), len(each["lost"]), _some(each["read_by"])]
             for each in shared],
        )  # fmt: skip
        print("A head of a memory layer attends to one slot and to no token: there are no attention patterns.\n")
    _tell_lost(lost)


def _read_by(part: Contribution, tokens: tuple[str, ...]) -> str:
    """What a head reads: tokens, or a slot and the number in it."""
    if part.slot is not None:
        return f"slot {part.slot.slot}: {', '.join(f'{value:+.6g}' for value in part.slot.values)}"
    return "" if part.attention is None else _attention(part.attention, tokens)


def _some(facts: list[str]) -> str:
    return "; ".join(facts[:FEW]) + (f" and {len(facts) - FEW:,} more" if len(facts) > FEW else "")


def _named(parts: tuple[Contribution, ...]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(part.name for part in parts[:SHOWN]) + more


def _attention(attention: tuple[float, ...], tokens: tuple[str, ...]) -> str:
    best = sorted(range(len(tokens)), key=lambda place: -attention[place])[:2]
    return ", ".join(f"{tokens[place]} {attention[place]:.0%}" for place in best if attention[place] >= 0.005)


def _tell_lost(lost: list[str] | None) -> None:
    if lost is None:
        return
    if not lost:
        print("No fact is lost when these heads are ablated.\n")
        return
    shown = "; ".join(lost[:SHOWN])
    more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
    print(f"{len(lost):,} facts are lost when these heads are ablated: {shown}{more}\n")
