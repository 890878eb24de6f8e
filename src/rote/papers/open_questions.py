"""Questions that the papers leave open, each as a study: `rote reproduce rote.sparse-regime` and the like.

No paper makes these claims; each study's passage quotes the sentence that names its question.
"""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import (
    DeepQueries,
    DeepTable,
    EqualCompute,
    LayerAlgorithm,
    RealTexts,
    SparseTable,
    SplitLayer,
)
from rote.papers.kinds.statements import (
    AtMost,
    Headline,
    HigherBeyondFirst,
    Line,
    StatementCell,
    Study,
    View,
    number_grows_as,
)

FACTS = 2500
HELD_OUT = 100
"""First seed of a study whose claims were chosen on other seeds or before any run."""
ZIPF = (
    Line("trained_zipf", "trained"),
    Line("readout_zipf", "random attention, W_O and W_U fitted"),
    Line("theorem_zipf", "Theorem 1 on the likeliest facts"),
    Line("optimal_zipf", "optimal for the bits held", bound=True),
)
UNIFORM = tuple(Line(line.value.replace("zipf", "uniform"), line.label) for line in ZIPF if not line.bound)

SPARSE = Study(
    "rote.sparse-regime",
    "Loss and recall with more facts than a model holds, against dP / facts",
    'Dana 2024 (slides), Limitations: "We do not know how memorization occurs in the sparce regime dP < N_eps"',
    "dP / facts",
    "loss / log N",
    tuple(
        StatementCell(f"d = k = {dim}", dim * heads / FACTS, SparseTable(50, FACTS, dim, heads))
        for dim, most in ((5, 64), (10, 16))
        for heads in (1, 2, 4, 8, 16, 32, 64)
        if heads <= most
    ),
    ZIPF,
    (
        Claim(
            "likely-first",
            "Trained under a Zipf prior, a model recalls 0.75 of the most prior that so many facts can have, or more",
            AtMost(0.75, "trained_choice_zipf"),
        ),
        Claim(
            "above-optimal",
            "Its loss is 1.4 times the least for the bits it holds under a uniform prior, or more",
            AtMost(1.4, "over_optimal"),
        ),
        Claim(
            "choice-pays",
            "Trained on the likeliest facts that fit and no others, it recalls more of the prior",
            AtMost("trained_mass_zipf", "chosen_mass_zipf"),
        ),
        Claim(
            "built-zipf",
            "Theorem 1 built for the Hk + d likeliest facts has 0.9 of the loss of knowing nothing, or more",
            AtMost(0.9, "theorem_zipf"),
        ),
        Claim("law-modules", "The facts' worth of bits held grows as dP", number_grows_as("held", 0.9, 1.1)),
        Claim(
            "law-least",
            "At every size a trained model holds at least 1.2 bits per parameter",
            AtMost(1.2, "bits_per_parameter"),
        ),
        Claim("law-most", "At every size it holds at most 2 bits per parameter", AtMost("bits_per_parameter", 2.0)),
    ),
    quick=(0.016, 0.032),
    seconds=134,
    quick_seconds=12,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2, 2,500 facts; P modules are H heads; losses at the best temperature.",
    views=(
        View("loss / log N, Zipf prior", ZIPF),
        View("loss / log N, uniform prior", UNIFORM),
        View(
            "share recalled, Zipf prior",
            (
                Line("kept_half", "rank / facts that fit: up to 1/2"),
                Line("kept_one", "rank / facts that fit: 1/2 to 1"),
                Line("kept_two", "rank / facts that fit: 1 to 2"),
                Line("kept_more", "rank / facts that fit: above 2"),
            ),
        ),
    ),
    headline=Headline(
        "Short of parameters, training keeps likely facts first, but far from optimally",
        ("likely-first", "above-optimal", "choice-pays"),
    ),
)

TABLES, LONGER, MLPS, QUERIES = "attention, S = 2", "attention, S = 4", "MLP, S = 2", "query attention"

DEPTH = Study(
    "rote.depth",
    "Bits held per parameter against layers, at equal parameters",
    'Review of Mahdavi et al. 2024: "Expanding the analysis to multi-layered architectures could provide more '
    'comprehensive insights"',
    "layers L",
    "bits per parameter",
    (
        *(StatementCell(TABLES, layers, DeepTable(50, 2, 2500, 8, 12, layers)) for layers in (1, 2, 3, 4)),
        *(StatementCell(LONGER, layers, DeepTable(50, 4, 2500, 8, 12, layers)) for layers in (1, 2)),
        *(StatementCell(MLPS, layers, DeepTable(50, 2, 2500, 8, 12, layers, mlp=True)) for layers in (1, 2, 3, 4)),
        *(StatementCell(QUERIES, layers, DeepQueries(16, 3000, 16, 16, 8, 12, layers)) for layers in (1, 2, 3, 4)),
    ),
    (Line("bits_per_parameter", "held bits per parameter"), Line("accuracy", "accuracy")),
    (
        Claim(
            "tables",
            "More layers hold more: attention only, pairs of tokens",
            HigherBeyondFirst("bits_per_parameter", TABLES),
        ),
        Claim(
            "longer",
            "More layers hold more: attention only, keys of four tokens",
            HigherBeyondFirst("bits_per_parameter", LONGER),
        ),
        Claim(
            "mlps",
            "More layers hold more: one head and an MLP per layer",
            HigherBeyondFirst("bits_per_parameter", MLPS),
        ),
        Claim(
            "queries",
            "More layers hold more: query attention, one shared context",
            HigherBeyondFirst("bits_per_parameter", QUERIES),
        ),
    ),
    quick=(1, 2),
    seconds=418,
    quick_seconds=108,
    log_y=False,
    note="12 heads in all, or one per layer and neurons for the others; more facts than fit; best of three rates.",
    views=(View("bits per parameter", (Line("bits_per_parameter", "equal parameters, best learning rate"),)),),
    headline=Headline(
        "More layers do not make attention hold more per parameter",
        refuted=("tables", "longer", "queries"),
    ),
    together=True,
)

COMPONENTS = Study(
    "rote.components",
    "Which component of a trained layer holds the facts",
    'Dana et al., version 2, experiment 5: "Why aren\'t attention heads found to remember association unlike MLPs?"',
    "MLP's share of the parameters of attention and MLP",
    "accuracy",
    tuple(
        StatementCell("one layer", (16 - heads) / 16, SplitLayer(50, 1000, 16, 4, heads, 16))
        for heads in (1, 4, 8, 12, 15)
    ),
    (Line("accuracy", "trained"),),
    (
        Claim(
            "ablate-attention",
            "Without attention (zero-ablation) at most 0.15 of the facts are recalled",
            AtMost("no_attention", 0.15),
        ),
        Claim("ablate-mlp", "Without the MLP (zero-ablation) at most 0.15 are recalled", AtMost("no_mlp", 0.15)),
        Claim(
            "attention-stores",
            "Attention alone, retrained, recalls its share of the parameters of new facts, less 0.15 at most",
            AtMost("attention_shortfall", 0.15),
        ),
        Claim(
            "mlp-stores",
            "The MLP alone, retrained, recalls its share of the parameters of new facts, less 0.15 at most",
            AtMost("mlp_shortfall", 0.15),
        ),
    ),
    quick=(0.25, 0.5),
    seconds=84,
    quick_seconds=16,
    log_y=False,
    note="N = 50, S = 2, 1,000 facts, d = 16, k = 4; new facts: other answers to the same keys.",
    views=(
        View(
            "accuracy after ablation",
            (
                Line("accuracy", "trained"),
                Line("no_attention", "attention zero-ablated"),
                Line("mean_attention", "attention mean-ablated"),
                Line("mean_pattern", "attention patterns at their mean"),
                Line("no_mlp", "MLP zero-ablated"),
                Line("mean_mlp", "MLP mean-ablated"),
            ),
        ),
        View(
            "accuracy on new facts",
            (Line("new_attention", "attention retrained"), Line("new_mlp", "MLP retrained")),
        ),
    ),
    headline=Headline(
        "Retrained alone, attention and MLP each store new facts by their share of the parameters",
        ("attention-stores", "mlp-stores"),
    ),
    first_seed=HELD_OUT,
)

COMPUTE = Study(
    "rote.equal-compute",
    "Accuracy of attention and of an MLP of its size against arithmetic in training",
    "Dana et al. 2025: attention and MLP memorize alike at the same number of parameters; here at the same FLOPs",
    "GFLOP",
    "accuracy",
    tuple(
        StatementCell(f"d = {dim}, H = {heads}", gigaflops, EqualCompute(50, dim, heads, gigaflops))
        for dim, heads in ((7, 21), (10, 16))
        for gigaflops in (10, 30, 100, 300)
    ),
    (Line("attention", "attention"), Line("mlp", "MLP")),
    (
        Claim("mlp-higher", "At the same arithmetic the MLP recalls more", AtMost("attention", "mlp")),
        Claim("attention-higher", "At the same arithmetic attention recalls more", AtMost("mlp", "attention")),
        Claim(
            "attention-quicker",
            "In rote's engine attention takes less CPU time for it",
            AtMost("attention_cpu_seconds", "mlp_cpu_seconds"),
        ),
    ),
    quick=(10, 30),
    seconds=94,
    quick_seconds=5,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2, all pairs; FLOPs of plain products, forward and backward; the better of two learning rates.",
    views=(View("accuracy", (Line("attention", "attention"), Line("mlp", "MLP"))),),
    headline=Headline(
        "At equal arithmetic attention does not recall more than an MLP of its size", refuted=("attention-higher",)
    ),
)

ALGORITHM = Study(
    "rote.algorithm",
    "By which algorithm a trained attention layer recalls facts",
    'Dana 2024 (slides), Memorization in Transformers: "How does it memorize? What algorithm is implemented?"',
    "heads H",
    "share of the recalled facts",
    tuple(StatementCell("d = k = 8", heads, LayerAlgorithm(50, 2500, 8, heads)) for heads in (2, 4, 8, 16)),
    (Line("hard", "hard patterns"),),
    (
        Claim(
            "hard-look-up",
            "Heads select: with hardmax in place of softmax 0.9 of the recalled facts are still recalled",
            AtMost(0.9, "hard"),
        ),
        Claim(
            "one-head-each",
            "Facts are kept in one head each: a mean-ablated head loses 2/H of the recalled facts at most",
            AtMost("one_head_each", "kept_without_head"),
        ),
        Claim(
            "linear-solve",
            "No more facts are recalled than the features have rank, as in the proof of Theorem 1",
            AtMost("recalled", "rank"),
        ),
        Claim(
            "general-features",
            "Trained features serve any facts: a new readout recalls 0.9 as many new answers as it does its own",
            AtMost(0.9, "new_over_own"),
        ),
        Claim(
            "fitted-features",
            "Trained features serve their own facts: a new readout recalls 1.5 times what it does on random attention",
            AtMost(1.5, "own_over_random"),
        ),
    ),
    quick=(2, 4),
    seconds=32,
    quick_seconds=8,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2, 2,500 facts; shares are of the facts that a model recalls; built: Theorem 1 on Hk + d facts.",
    views=(
        View(
            "share of the recalled facts",
            (
                Line("hard", "trained, hard patterns"),
                Line("kept_without_head", "trained, one head mean-ablated"),
                Line("built_hard", "built, hard patterns"),
                Line("built_kept_without_head", "built, one head mean-ablated"),
            ),
        ),
        View(
            "facts recalled",
            (
                Line("recalled", "trained"),
                Line("own_readout", "its features, new readout"),
                Line("new_readout", "its features, new answers"),
                Line("random_readout", "random attention, fitted readout"),
                Line("rank", "rank of the features", bound=True),
            ),
        ),
    ),
    headline=Headline(
        "Training fits the features to its facts, which are spread over heads and far more than their rank",
        ("fitted-features",),
        ("one-head-each", "linear-solve", "general-features"),
    ),
    first_seed=HELD_OUT,
)

REAL_TEXTS = Study(
    "rote.real-texts",
    "Query attention on real texts against Gaussian vectors",
    'Review of Mahdavi et al. 2024: "real-world data experiments might be needed to fully understand the practical '
    'implications of the findings"',
    "examples / (H(n - 1) + 1)",
    "accuracy",
    tuple(
        StatementCell(f"H = {heads}", times, RealTexts(times, 8, 32, 8, heads, 10))
        for heads in (4, 8)
        for times in (1, 4, 16)
    ),
    (Line("real", "real texts, random labels"),),
    (
        Claim(
            "meets-bound",
            "Training recalls the H(n - 1) + 1 examples of Theorem 1 when they are real texts with random labels",
            AtMost(1.0, "real_at_bound"),
        ),
        Claim(
            "as-gaussian",
            "It recalls 0.9 as many real texts as Gaussian vectors, or more, random labels in both",
            AtMost(0.9, "real_over_gaussian"),
        ),
        Claim("own-labels", "Texts with their own labels are recalled at least as often", AtMost("real", "own_labels")),
    ),
    quick=(1, 4),
    seconds=40,
    quick_seconds=10,
    log_x=True,
    log_y=False,
    note="WordNet definitions, n = 8 words and the next as the query, d = 32, k = 8, 10 labels; protocol fast.",
    views=(
        View(
            "accuracy",
            (
                Line("real", "real texts, random labels"),
                Line("own_labels", "real texts, their own labels"),
                Line("gaussian", "Gaussian vectors, random labels"),
            ),
        ),
    ),
    headline=Headline(
        "Real texts are memorized beyond the bound, but not as many as Gaussian vectors",
        ("meets-bound",),
        ("as-gaussian",),
    ),
    first_seed=HELD_OUT,
)

OPEN_QUESTIONS = (SPARSE, DEPTH, COMPONENTS, COMPUTE, ALGORITHM, REAL_TEXTS)
