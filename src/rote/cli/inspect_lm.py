"""`rote inspect` of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from rote.cli.options import LoadingOptions, ReadingOptions, bars, load_language_model, read_facts
from rote.cli.output import print_json, print_pairs, print_table
from rote.errors import InputError

if TYPE_CHECKING:
    from rote.lm.attribution.attribution import Attribution
    from rote.lm.attribution.sets import Located
    from rote.lm.language_model import LanguageModel
    from rote.models.model import Model
    from rote.tasks import Task

IN_A_LANGUAGE_MODEL = Group("Components of a language model or a rote model", sort_key=90)
SHOWN = 12
"""Components in a table on the screen."""
NAMES = {"direct": "DLA", "sources": "source", "zero": "zero-abl.", "mean": "mean-abl.", "patch": "patched"}


@Parameter(name="*", group=IN_A_LANGUAGE_MODEL)
@dataclass(frozen=True)
class LmInspectOptions:
    """What is asked of a language model, and how."""

    template: Annotated[tuple[str, ...], Parameter(negative="")] = ()
    "Prompt with the table's columns in braces. Default: the first that comes with a named source."
    relation: str | None = None
    "Keep the facts of one relation."
    effect: Annotated[tuple[Literal["zero", "mean", "patch"], ...], Parameter(negative="", consume_multiple=True)] = (
        "zero", "mean", "patch",
    )  # fmt: skip
    "Interventions to run: zero-ablation, mean-ablation, activation patching. Default: all."
    csv: Path | None = None
    "Write one line per fact and component to this file."
    figure: Path | None = None
    "Draw heat maps (layers by heads) to this PNG, SVG or PDF file, one per effect."
    known: Annotated[bool, Parameter(negative="")] = False
    "Keep the facts whose first token is right."
    unknown: Annotated[bool, Parameter(negative="")] = False
    "Keep the facts whose first token is wrong."
    most: int | None = None
    "Keep at most this many facts of each relation, evenly spaced."
    sets: Annotated[bool, Parameter(negative="")] = False
    "Find the components whose joint ablation loses each fact, and compare heads with MLPs."
    batch: int = 32
    "Prompts per run."


def is_language_model(model: Path) -> bool:
    """Whether `rote inspect` was given a language model: a GGUF file, or a folder that rote did not write."""
    from rote.lm.weight_files import is_rote_folder

    if model.suffix == ".gguf" and model.is_file():
        return True
    return model.is_dir() and not is_rote_folder(model) and any(
        path.suffix == ".gguf" or path.name == "config.json" for path in model.iterdir()
    )  # fmt: skip


def inspect_components(
    model: Model,
    task: Task,
    name: str,
    words: Sequence[str],
    lm: LmInspectOptions,
    loading: LoadingOptions | None,
    as_json: bool,
) -> int:
    """Attribute facts to the components of a rote model, as those of a language model are."""
    if loading is not None:
        raise InputError("a rote model is read as its folder says; leave out the options that load language models")
    return _inspected(model, task, f"this {model.spec.architecture} model", name, words, lm, as_json)


def inspect_lm(
    model: Path,
    words: Sequence[str],
    off: Sequence[str],
    facts: str | None,
    lm: LmInspectOptions | None,
    loading: LoadingOptions | None,
    reading: ReadingOptions | None,
    as_json: bool,
) -> int:
    """Attribute one fact, or every fact of a table, to the components of a language model."""
    from rote.tasks.origin import Reading

    chosen = lm or LmInspectOptions()
    if facts is None:
        raise InputError(f"{model}: is a language model; `facts` names the table to ask it for, such as countries")
    if off:
        raise InputError("`off`: is for rote's own models; a language model's components are ablated one by one")
    task = read_facts(facts, reading, Reading(keys="words"))
    loaded = load_language_model(model, loading, attentions=True)
    return _inspected(loaded, task, str(model), facts, words, chosen, as_json)


def _inspected(
    model: LanguageModel | Model,
    task: Task,
    name: str,
    facts: str,
    words: Sequence[str],
    chosen: LmInspectOptions,
    as_json: bool,
) -> int:
    from rote.lm.attribution.attribution import attribution
    from rote.lm.attribution.sets import locate

    key, relation = tuple(words), chosen.relation
    if chosen.sets and chosen.unknown:
        raise InputError(
            "`sets`, `unknown`: a fact that the model does not recall cannot be lost; leave out one of them"
        )
    found = attribution(
        model, task, chosen.template, relation=relation, key=key or None, known=chosen.known or chosen.sets,
        unknown=chosen.unknown, most=chosen.most, effects=chosen.effect, batch=chosen.batch, progress=bars(),
    )  # fmt: skip
    located = None
    if chosen.sets:
        located = locate(model, task, found, chosen.template, relation=relation, batch=chosen.batch, progress=bars())
    if chosen.csv is not None:
        found.write_csv(chosen.csv)
    if chosen.figure is not None:
        _draw(found, chosen.figure)
    if as_json:
        print_json({**found.summary(), **({} if located is None else {"located": located.summary()})})
    elif key:
        _show_fact(found)
    else:
        _show_table(found, name, facts)
    if located is not None and not as_json:
        _show_located(located)
    return 1 if key and not found.recalled.all() else 0


def _draw(found: Attribution, path: Path) -> None:
    from rote.charts.drawing import write_chart

    for name in found.measured:
        write_chart(found.heat_map(name, known=bool(found.recalled.any())), path.with_stem(f"{path.stem}-{name}"))


def _show_fact(found: Attribution) -> None:
    fact = found.facts[0]
    first = "" if fact.answer_tokens == 1 else f" (first of {fact.answer_tokens} tokens of {fact.answer!r})"
    print_pairs(
        f"{fact.first_token}{first}",
        {
            "prompt": fact.prompt,
            "runner-up": f"{fact.runner_up} ({fact.runner_up_logit:.4g})",
            "logit margin": fact.margin,
            "recalled": "yes" if fact.recalled else "no: what follows explains another answer",
            "embedding, constants": f"{found.embedding[0]:.3g}, {found.constant[0]:.3g}",
            "heads in all, MLPs in all": f"{found.direct[0, :, :-1].sum():.3g}, {found.direct[0, :, -1].sum():.3g}",
            "rounding": f"{found.rounding[0]:.1g}",
        },
    )
    _show_components(found, {name: found.effect(name)[0] for name in found.measured}, found.attention[0])


def _show_table(found: Attribution, model: str, facts: str) -> None:
    recalled = int(found.recalled.sum())
    several = sum(fact.answer_tokens > 1 for fact in found.facts)
    pairs: dict[str, Any] = {"recalled (first token)": f"{recalled:,} of {len(found.facts):,} facts"}
    if several:
        pairs["answers of several tokens"] = f"{several:,}; only the first token is attributed"
    if not recalled:
        pairs["means"] = "over all facts: none is recalled"
    print_pairs(f"{model} on {facts}", pairs)
    known = recalled > 0
    rows = found.recalled if known else ~found.recalled
    _show_components(
        found,
        {name: found.mean_effect(name, known) for name in found.measured},
        found.attention[rows].mean(0),
    )


def _show_located(located: Located) -> None:
    document = located.summary()
    sizes = [] if document["median_size"] is None else [
        ["median size of a set", document["median_size"]],
        ["other facts lost by the same set", document["others_lost"]],
        ["facts lost by a random set of that size", document["random_lost"]],
    ]  # fmt: skip
    print_table(
        f"sets of components whose ablation loses a fact: {document['with_a_set']} of {document['facts']} facts",
        ["", "value"],
        sizes,
    )
    print_table(
        "heads against MLPs",
        ["kind", "facts lost without it", "95 %", "share of DLA", "95 %"],
        [
            [
                share.kind, f"{share.lost} of {share.facts}", f"{share.interval.low:.0%}-{share.interval.high:.0%}",
                share.direct, f"{share.direct_interval.low:.2f}-{share.direct_interval.high:.2f}",
            ]
            for share in located.shares
        ],
    )  # fmt: skip


def _show_components(found: Attribution, effects: dict[str, Any], attention: Any) -> None:
    by = "mean" if "mean" in effects else next(iter(effects))
    order = sorted(found.components, key=lambda part: -abs(effects[by][_place(found, part)]))
    rows = []
    for part in order[:SHOWN]:
        place = _place(found, part)
        looks = "" if part.head is None else f"{attention[place][1]:.0%} / {attention[place][3]:.0%}"
        rows.append([str(part), *(float(values[place]) for values in effects.values()), looks])
    title = f"components by {'mean-ablation' if by == 'mean' else by}, {len(rows)} of {len(order)}"
    print_table(title, ["component", *(NAMES[name] for name in effects), "subject / last"], rows)
    print(
        "DLA and ablations in logits: what a component adds to the margin, what the margin loses without it.\n"
        "Source: DLA, with what a head reads from earlier components counted for those.\n"
        "Patched: share of the answer restored in a run on another subject. An effect is not storage.\n"
    )


def _place(found: Attribution, part: Any) -> tuple[int, int]:
    return part.layer, found.heads if part.head is None else part.head
