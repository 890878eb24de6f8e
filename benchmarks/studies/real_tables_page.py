"""A page: what real tables take, by theory, built and trained, in one table and one figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from rote.experiments.files import write_text
from rote.models.attention_only import AttentionOnly
from rote.report.markdown import table_lines
from rote.training.protocol import best
from studies.real_tables import RealTable, VerifiedModel
from studies.real_tables_figure import real_tables_figure
from studies.smallest_trained import SEARCH_SEED, TrainedTry


def write_real_tables_page(tables: Sequence[RealTable], page: Path, command: str) -> list[Path]:
    """Write the page and its figure beside it."""
    drawn = real_tables_figure(tables, page.with_suffix(".png"))
    return [write_text(page, "\n".join(_page(tables, drawn.name, command)) + "\n"), drawn]


def _page(tables: Sequence[RealTable], drawn: str, command: str) -> list[str]:
    minutes = sum(table.trained.seconds for table in tables) / 60
    return [
        "# Real tables", "",
        "How small may a model be that holds every fact of a real table, and how small must it be by theory? Three "
        "tables that come with rote, through `rote bounds`, `plan`, `build`, `train` and `capacity`.", "",
        f"`{command}` writes this page and resumes after an interruption; training took {minutes:.0f} minutes of "
        "CPU time.", "",
        "The models here were built before `rote.selector`, which holds countries in 3,560 parameters. What "
        "`rote build` chooses today, beside every alternative: "
        "[benchmarks/README.md](../benchmarks/README.md#defaults).", "",
        f"![parameters and bytes against the bits in the answers]({drawn})", "",
        *table_lines(
            ["", *(table.name for table in tables)],
            [[name, *(cell(table) for table in tables)] for name, cell in ROWS],
            [False, *(True for _ in tables)],
        ), "",
        "## How to read it", "",
        "- *Bits* are the entropy of the answers at their frequencies; keys are given and not counted. *Counting* is "
        "the floor for any model of float32 numbers; 3.6 bits (Morris et al. 2025) and 2 bits (Allen-Zhu and Li 2024) "
        "per parameter are what trained language models were seen to hold.",
        "- *Built* are the smallest of the ways that `rote plan` sizes, and those that were built to find out: fewest "
        "parameters of attention-only models, of all architectures, and fewest bytes. A sequence encoder finds its row "
        "by the exact key, which is in its bytes and no parameter; a network by Kajitsuka and Sato has whole "
        "numbers for weights, most of them zero, which pack into few bytes.",
        "- *Trained* are attention-only models in float32 with heads of dimension 2 (`best`, changed as below). "
        f"Dimension and heads were searched on seed {SEARCH_SEED}; reported are held-out seeds, of which at least "
        "one recalls every fact. Longer training may do with less. Most embeddings belong to tokens that are only "
        "ever answers: no key reads them.",
        "- Every built model, and every trained one with full recall, was written to a folder and verified from there: "
        "its certificate recomputed from tensors and facts.", "",
        "## Findings", "", *_verdict(tables), "",
        "## Search", "", *_searches(tables),
    ]  # fmt: skip


def _model(model: VerifiedModel) -> str:
    dtype = "" if model.dtype == "float32" else f", {model.dtype}"
    return f"{model.parameters:,} ({model.id}{dtype})"


def _attention(table: RealTable) -> VerifiedModel:
    return table.smallest_built(AttentionOnly.architecture)


def _per_parameter(table: RealTable, model: VerifiedModel) -> str:
    return f"{table.bits / model.parameters:.3g}"


def _per_bit(table: RealTable, model: VerifiedModel) -> str:
    return f"{table.bits / (8 * model.bytes):.2g}"


def _trained(table: RealTable) -> str:
    if table.trained_model is None:
        closest = table.trained.closest
        parameters = closest.spec.parameters()
        return f"none with full recall: {closest.recalled:,} facts by {parameters:,}, {closest.steps:,} steps"
    return f"{table.trained_model.parameters:,}"


def _if_whole(table: RealTable, cell: Callable[[RealTable, VerifiedModel], str]) -> str:
    return "-" if table.trained_model is None else cell(table, table.trained_model)


def _shape(table: RealTable) -> str:
    spec = table.trained.spec
    return f"d = {spec.dim}, k = {spec.head_dim}, H = {spec.heads}"


def _seeds(table: RealTable) -> str:
    if table.trained.summary is None:
        return "-"
    models = table.trained.summary["models"]
    whole = sum(round(model["recall"] * table.shape.associations) == table.shape.associations for model in models)
    return f"{whole} of {len(models)}"


ROWS: tuple[tuple[str, Callable[[RealTable], str]], ...] = (
    ("facts", lambda table: f"{table.shape.associations:,}"),
    ("tokens of a key", lambda table: f"{table.shape.context}"),
    ("vocabulary, answers in it", lambda table: f"{table.shape.vocab:,}, {table.shape.answers:,}"),
    ("**bits** in the answers", lambda table: f"{table.bits:,.0f}"),
    ("**ceiling** of recall", lambda table: f"{table.ceiling:g}"),
    ("parameters: floor by counting, float32", lambda table: f"{table.asked('rote.counting'):,}"),
    ("at 3.6 bits per parameter", lambda table: f"{table.asked('morris2025.bits'):,}"),
    ("at 2 bits per parameter", lambda table: f"{table.asked('allenzhu2024.two_bits'):,}"),
    ("Theorem 1 requires (Dana et al., d = 20)", lambda table: f"{table.asked('dana2025.theorem1'):,}"),
    ("Corollary 1 requires (d = 2, by formula)", lambda table: f"{table.asked('dana2025.corollary1'):,}"),
    ("**smallest built**, attention only", lambda table: _model(_attention(table))),
    ("bits per parameter", lambda table: _per_parameter(table, _attention(table))),
    ("**smallest built**, any architecture", lambda table: _model(table.smallest_built())),
    ("bits per parameter", lambda table: _per_parameter(table, table.smallest_built())),
    ("**fewest bytes built**", lambda table: f"{table.fewest_bytes.bytes:,} ({table.fewest_bytes.id})"),
    ("its parameters", lambda table: f"{table.fewest_bytes.parameters:,}"),
    ("bits of answers per bit of the file", lambda table: _per_bit(table, table.fewest_bytes)),
    ("**smallest trained**", _trained),
    ("its shape", _shape),
    ("bits per parameter", lambda table: _if_whole(table, _per_parameter)),
    ("parameters that no key reads", lambda table: f"{_idle(table):,}"),
    ("bits per parameter that some key reads", lambda table: _if_whole(table, _per_read_parameter)),
    ("bytes", lambda table: _if_whole(table, lambda _, model: f"{model.bytes:,}")),
    ("bits of answers per bit of the file", lambda table: _if_whole(table, _per_bit)),
    ("held-out seeds that recall every fact", _seeds),
    (
        "Theorem 1 guarantees for this shape",
        lambda table: "-" if table.guaranteed is None else f"{table.guaranteed:,} facts",
    ),
    ("building stores in this shape", lambda table: f"{table.stored:,} facts"),
    ("all verified", lambda table: "yes" if _all_verified(table) else "NO"),
)


def _all_verified(table: RealTable) -> bool:
    models = [*table.built, *([] if table.trained_model is None else [table.trained_model])]
    return all(model.whole for model in models)


def _verdict(tables: Sequence[RealTable]) -> list[str]:
    lines = []
    for table in tables:
        built, model = _attention(table), table.trained_model
        if model is None:
            closest = table.trained.closest
            lines.append(
                f"- {table.name}: training was not taken to full recall. {closest.steps:,} steps of {closest.batch:,} "
                f"contexts ({closest.seconds:.0f} CPU seconds) recalled {closest.recalled:,} of "
                f"{closest.facts:,} facts ({closest.recalled / closest.facts:.1%}); the {_whole_steps(closest):,} "
                f"steps of the protocol `best` would take {_whole_hours(closest):.0f} hours at this pace (estimated), "
                f"and whether they would do is not known. Building stores every fact, with {built.parameters:,} "
                f"parameters of attention alone, and in {table.fewest_bytes.bytes:,} bytes by {table.fewest_bytes.id}; "
                f"the answers alone carry {math.ceil(table.bits / 8):,}."
            )
            continue
        smallest = model.parameters
        lines.append(
            f"- {table.name}: training requires {built.parameters / smallest:.1f} times fewer parameters than the "
            f"smallest attention-only model built, {table.asked('dana2025.theorem1') / smallest:.0f} times fewer than "
            f"Theorem 1 requires, and {smallest / table.asked('rote.counting'):.0f} times as many as counting. "
            f"Embedding and unembedding are {_share_of_tokens(table):.0%} of them. For its shape Theorem 1 guarantees "
            f"{table.guaranteed or 0:,} facts and building stores {table.stored:,}: training recalls "
            f"{table.shape.associations / table.stored:.0f} times as many. By bytes building wins: "
            f"{table.fewest_bytes.bytes:,} by {table.fewest_bytes.id} against {model.bytes:,}."
        )
    return lines


def _whole_steps(tried: TrainedTry) -> int:
    return best(tried.spec, tried.facts).steps


def _whole_hours(tried: TrainedTry) -> float:
    """What the protocol `best` would take of one core, by the time that a context of a step took."""
    whole = best(tried.spec, tried.facts)
    return tried.seconds / (tried.steps * tried.batch) * whole.steps * (whole.batch or tried.facts) / 3600


def _idle(table: RealTable) -> int:
    """Embeddings, in the trained model, of tokens that are in no key: they are parameters, and change nothing."""
    return (table.shape.vocab - table.shape.key_tokens) * table.trained.spec.dim


def _per_read_parameter(table: RealTable, model: VerifiedModel) -> str:
    return f"{table.bits / (model.parameters - _idle(table)):.3g}"


def _share_of_tokens(table: RealTable) -> float:
    """Of the trained model's parameters, those that look up or score a token."""
    spec = table.trained.spec
    return 2 * spec.vocab * spec.dim / spec.parameters()


def _searches(tables: Sequence[RealTable]) -> list[str]:
    """Every model that was trained on the way, so that the choice can be judged."""
    rows = []
    for table in tables:
        for kind, tries in (("dimension", table.trained.dims), ("heads", table.trained.tries)):
            for tried in tries:
                recalled, seed = f"{tried.recalled:,} of {tried.facts:,}", f"{SEARCH_SEED}"
                sizes = f"{tried.spec.dim}, {tried.spec.head_dim}, {tried.spec.heads}"
                rows.append(
                    [table.name, kind, sizes, f"{tried.spec.parameters():,}", f"{tried.steps:,}", seed, recalled,
                     f"{tried.seconds:.0f}"]
                )  # fmt: skip
        for summary in table.trained.fresh:
            spec, steps = summary["spec"], summary["protocol"]["steps"]
            sizes = f"{spec['dim']}, {spec['head_dim']}, {spec['heads']}"
            for model in summary["models"]:
                recalled = f"{round(model['recall'] * summary['facts']):,} of {summary['facts']:,}"
                rows.append(
                    [table.name, "held-out seeds", sizes, f"{summary['parameters']:,}", f"{steps:,}",
                     f"{model['seed']}", recalled, f"{model['cpu_seconds']:.0f}"]
                )  # fmt: skip
    changed = [f"- {table.name}: {_changes(table)}" for table in tables]
    columns = ["table", "search", "d, k, H", "parameters", "steps", "seed", "recalled", "CPU s"]
    return [
        "Protocol `best`, changed in these fields; dimensions are compared with fewer steps and no L-BFGS refinement.",
        "",
        *changed, "",
        *table_lines(columns, rows, [False, False, False, True, True, True, True, True]),
    ]  # fmt: skip


def _changes(table: RealTable) -> str:
    fields = [f"{name} {value:,}" for name, value in table.settings.protocol.items()]
    return ", ".join(fields) or "nothing"
