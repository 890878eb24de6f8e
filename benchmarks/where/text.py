"""The page docs/where_smollm2.md, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from where.calibration import Score
from where.findings import Findings, likeness
from where.page import (
    DOCS,
    STEM,
    calibration_chart,
    calibration_summary,
    component_rows,
    control_rows,
    fact_rows,
    france,
    heat,
    kind_rows,
    set_rows,
    share_rows,
    table,
    theory_chart,
    windows_chart,
    write_csv,
)
from where.theory import LayerTheory, most

QUOTATION = (
    "either they are remembering associations but we didn't find it yet, or they are used to perform tasks that MLPs "
    "cannot do, like operation between residual stream, and thus give the remembering task to MLPs"
)


def write_page(
    cases: dict[str, Findings], layers: dict[str, list[LayerTheory]], scores: Sequence[Score], seconds: float
) -> None:
    """The page, its figures and CSV files."""
    known = cases["capital-known"]
    lines = layers["capital"]
    shares = share_rows(list(cases.values()))
    taken_apart, france_rows = france(known)
    write_csv("shares", shares)
    write_csv("france", france_rows)
    write_csv("facts", [row for found in cases.values() for row in fact_rows(found)])
    write_csv("components", [row for found in cases.values() if found.case.known for row in component_rows(found)])
    text = [
        "# Where SmolLM2 keeps the capitals\n",
        f"`python benchmarks/where_facts.py` measures and writes this page ({seconds / 60:.0f} CPU minutes). The "
        "model is SmolLM2-135M-Instruct: 30 layers of 9 heads and an MLP, a GGUF file of 4-bit weights (Q4_1), run in "
        "float32. Facts are those of `countries` whose answer's first token it says; intervals are 95 % by bootstrap "
        "over facts. What it knows of all relations: [smollm2_countries.md](smollm2_countries.md).\n",
        "## Findings\n",
        *findings(known, lines, shares),
        *specificity(cases),
        "\n## Capital of France\n",
        taken_apart,
        "Attribution is direct logit attribution; ablations are the logit margin lost, patching the share of the "
        f"answer restored in a run on another country. All 300 components: [{STEM}.france.csv]({STEM}.france.csv).\n",
        "## Heat maps\n",
        heat(known, "attribution", f"{known.top('attribution')[0][0]} and {known.top('attribution')[1][0]} write most"),
        heat(known, "through heads", "What heads write they read from MLPs, most of all the first"),
        heat(
            known,
            "mean-ablation",
            f"{lost_without(known, 0)} of {known.facts} are lost without MLP 0; one head stands out",
        ),
        heat(known, "patching", "MLP 0 at the country and one head behind it restore the answer"),
        f"Means over facts, all methods: [{STEM}.components.csv]({STEM}.components.csv).\n",
        "## Heads against MLPs\n",
        "Share of heads in the effects of all components (positive effects of at least a tenth of the largest on that "
        "fact; the same statistic is calibrated below). Attribution is to the answer's logit minus the mean over all "
        "answers of the relation, so that saying a name at all does not count.\n",
        table(
            ["facts", "number", "method", "heads' share", "95 %"],
            [
                [row["facts"], row["number"], row["method"], row["heads"], f"{row['low']:.2f} to {row['high']:.2f}"]
                for row in shares
            ],
        ),
        f"Every fact with its margin, shares, largest components and set: [{STEM}.facts.csv]({STEM}.facts.csv).\n",
        *set_sections(cases),
        *control_section(cases),
        "## Calibration\n",
        "The same procedure runs on models in which the place of every fact is known. A method names components with "
        "at least half of the largest effect on a fact. *Precision*: the share of named components that hold the fact "
        "by construction. *Recall*: the share of holding components that are named. *Carriers*: the share of named "
        "components that only copy. All are means over models.\n",
        f"Every model with every method, and what is lost when the named set is resampled: [{STEM}.calibration.csv]"
        f"({STEM}.calibration.csv), by `python benchmarks/where_facts.py --calibrate`.\n",
        calibration_chart(scores),
        calibration_summary(scores),
        "## The theory\n",
        *theory_text(lines),
        theory_chart(lines, "capital"),
        f"All layers: [{STEM}.capital-theory.csv]({STEM}.capital-theory.csv).\n",
        "## Limits\n",
        "- First tokens of answers, one template per relation, one model of 135M parameters with 4-bit weights, one "
        "run of each intervention.\n"
        "- Components are ablated from the country on; the words before it are read once for all facts.\n"
        "- The floor of a tenth was set after a first look at SmolLM2, where hundreds of small effects of heads added "
        "up; the calibration uses the same floor.\n"
        "- Planted models are small and clean. They show where a method errs, not how often it errs in a language "
        "model.\n",
    ]
    (DOCS / f"{STEM}.md").write_text("\n".join(text), encoding="utf-8")


def lost_without(known: Findings, layer: int) -> int:
    """Facts lost when the MLP of a layer is mean-ablated."""
    return int((known.found.effects["mean"][:, layer, -1] <= 0).sum())


def set_sections(cases: dict[str, Findings]) -> list[str]:
    """Kinds by place, and sets; nothing without those runs."""
    with_sets = [found for found in cases.values() if found.case.known and found.has_sets]
    if not with_sets:
        return []
    return [
        "All components of a kind at once, mean-ablated (facts lost, logit margin lost) or patched (share restored):\n",
        table(["components", "at", "facts lost", "margin lost", "restored"], kind_rows(with_sets[0])),
        windows_chart(with_sets[0]),
        "Heads after the country carry everything that reaches the last token, so that losing them loses every fact "
        "wherever it is kept.\n",
        "## Sets of components\n",
        "Smallest set found per fact whose joint mean-ablation loses it, ordered by the fact's own effects or by how "
        "far they exceed those on other facts; the same set on eight other facts; a random set of the same size.\n",
        table(
            ["facts, order", "with a set", "median size", "heads", "other facts lost", "random set loses"],
            [row for found in with_sets for row in set_rows(found)],
        ),
        overlap_text(with_sets),
    ]


def specificity(cases: dict[str, Findings]) -> list[str]:
    """Whether sets and effects are those of single facts; nothing without these runs."""
    known, unknown = cases["capital-known"], cases.get("capital-unknown")
    if unknown is None or not known.has_sets:
        return []
    found = known.sets("own")
    commonest, often = Counter(tuple(one["components"]) for one in found["sets"]).most_common(1)[0]
    like = likeness(known.mean("mean-ablation"), np.nanmean(unknown.found.controls["said"], 0))
    return [
        f"- **Ablation finds no set of components that belongs to one fact.** The smallest set that loses a capital is "
        f"{', '.join(commonest)} alone for {often} of {found['facts']}, and without it {found['others_lost']:.2f} of "
        f"the other capitals that were asked are lost too. Mean-ablation's map of capitals that the model gets wrong "
        f"correlates with that of known ones at {like:.2f}: it shows the path of an answer, not which facts are "
        "stored."
    ]


def control_section(cases: dict[str, Findings]) -> list[str]:
    """Effects on facts that the model does not know, and on shuffled answers."""
    if "capital-unknown" not in cases:
        return []
    return [
        "## Controls\n",
        "Largest mean effect of a component under mean-ablation, and the correlation of all 300 mean effects with "
        "those on known facts.\n",
        table(
            ["facts, margin of", "facts", "largest", "correlation"],
            control_rows(cases["capital-known"], cases["capital-unknown"]),
        ),
    ]


def overlap_text(cases: Sequence[Findings]) -> str:
    """Jaccard overlap of sets within and between relations."""
    sets = {
        found.case.relation: [set(one["components"]) for one in found.sets("own")["sets"] if one["components"]]
        for found in cases
    }

    def overlap(one: list[set[str]], two: list[set[str]]) -> float:
        return float(np.mean([len(a & b) / len(a | b) for a in one for b in two if a is not b]))

    names = list(sets)
    pairs = [(one, two) for place, one in enumerate(names) for two in names[place:]]
    said = ", ".join(f"{one} and {two} {overlap(sets[one], sets[two]):.2f}" for one, two in pairs)
    return f"Mean Jaccard overlap of two facts' sets (own effect): {said}.\n"


def theory_text(lines: Sequence[LayerTheory]) -> list[str]:
    facts = lines[0].facts
    layer, does = most(lines, "attention_does")
    other, mlp = most(lines, "mlp_does")
    held = max(max(line.attention_held_out, line.mlp_held_out) for line in lines)
    shuffled = max(max(line.attention_shuffled, line.mlp_shuffled) for line in lines)
    full = sum(line.feature_rank == facts for line in lines)
    return [
        f"- Theorem 1's features (heads' values beside the residual stream at the last token) have rank {facts} for "
        f"{facts} facts in {full} of {len(lines)} layers; the guarantee is min(facts, Hk + d) with Hk + d = "
        f"{lines[0].guarantee}. So every layer *could* hold every capital by one linear solve, and a least-squares "
        f"readout of the attention output alone recalls {min(line.attention_could for line in lines)} to "
        f"{max(line.attention_could for line in lines)}, of the MLP output alone "
        f"{min(line.mlp_could for line in lines)} to {max(line.mlp_could for line in lines)}. That is rank, not "
        f"knowledge: fitted without a fact, the same readouts recall at most {held} of {facts} held-out facts, and "
        f"{shuffled} with shuffled answers.",
        f"- What the model's own unembedding *does* read: the attention output of layer {layer} alone says {does} of "
        f"{facts} capitals, the best MLP output alone (layer {other}) {mlp}. The theory's guarantee does not separate "
        "these layers: its condition holds in all of them.",
        f"- Saturation: in {sum(line.saturated > 0.05 for line in lines)} layers more than 5 % of heads give one token "
        f"over 0.99 of their attention; the largest share is {max(line.saturated for line in lines):.2f}.\n",
    ]


def findings(known: Findings, lines: Sequence[LayerTheory], shares: Sequence[dict[str, Any]]) -> list[str]:
    """The verdict, with numbers."""
    by = {row["method"]: row for row in shares if row["facts"] == "capital, known"}
    upper, lower = by["attribution"], by["through heads"]
    paths = known.paths
    heads = paths["direct"][:, :, :-1].sum((1, 2))
    mlps = paths["direct"][:, :, -1].sum(1)
    read = paths["sources"][:, :, -1].sum(1)
    own = paths["own"].sum((1, 2))
    layer, does = most(lines, "attention_does")
    _, mlp = most(lines, "mlp_does")
    labels = np.unique(paths["answers"], return_inverse=True)[1]
    aims = paths["unembedding"] - paths["unembedding"].mean(0)
    at_subject = [int(((paths["subject_mlp"][:, one] @ aims.T).argmax(1) == labels).sum()) for one in range(len(lines))]

    best, restored = next(pair for pair in known.top("patching") if pair[0].startswith("head"))

    def said(row: dict[str, Any]) -> str:
        return f"{row['heads']:.2f} ({row['low']:.2f} to {row['high']:.2f})"

    return [
        f"- **Heads write almost half of the answer, MLPs write what those heads read.** Over {known.facts} capitals, "
        f"heads add {heads.mean():.2f} and MLPs {mlps.mean():.2f} to the answer's logit over the other capitals. Of "
        f"what heads add, {read.mean():.2f} comes from outputs of earlier MLPs and {own.mean():.2f} from embeddings.",
        f"- Heads' share is {said(upper)} by attribution and {said(lower)} if what a head reads counts for its source. "
        "On models of known truth these err to opposite sides: attribution calls a head that only copies an "
        "MLP's answer the place of the fact, attribution through heads calls an MLP that only copies the subject the "
        "place. Ablation and patching name carriers as often as places, so their shares decide nothing.",
        f"- The capital first appears in attention. The output of layer {layer}'s attention alone, read by the model's "
        f"unembedding, says {does} of {lines[0].facts} capitals. No MLP output at the last token says more than {mlp}, "
        f"none at the country more than {max(at_subject)}. So no MLP spells the capital out at the country for a head "
        "to copy as it is.",
        f"- **Verdict on the two hypotheses of Dana et al.: undecided, with both sides bounded.** They ask why heads "
        f'are not found to remember in language models: "{QUOTATION}". The first fits that {best} alone restores '
        f"{restored:.2f} of the answer and that heads write {upper['heads']:.2f} of it. The second fits that heads "
        f"make almost nothing of embeddings: they read MLPs, most of all MLP 0, without which "
        f"{lost_without(known, 0)} of {known.facts} facts are lost, and late MLPs add the larger half of the logit. "
        f"Either MLP 0 gives a code of the country that {best} turns into the capital, so that the head remembers, or "
        "MLPs write the capital in a code that only the head decodes. No method here tells these apart, as the "
        "calibration shows.",
    ]
