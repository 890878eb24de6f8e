"""What is stated about one attention layer: Proposition 1, Lemma 2, Theorems 1 and 3, Corollaries 1 and 2, Remark 2."""

from __future__ import annotations

from rote.papers.paper import Claim
from rote.papers.statement_rules import AtMost, StaysInProportion
from rote.papers.statement_settings import (
    AttentionLayer,
    AttentionRank,
    Distributions,
    OneSumOfMany,
    SharpenedTable,
    StoredFacts,
)
from rote.papers.statements import Line, Statement, StatementCell

UNIFORM, ZIPF = Distributions("random", 15, 120), Distributions("random", 15, 120, "zipf")
NAMES = Distributions("names", None, 200, "own", noise=0.01)
NAMES_UNIFORM = Distributions("names", None, 200, "uniform", noise=0.01)
DEFINITIONS = Distributions("definitions", 100, 200, "own", noise=0.01)
EPSILONS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)

PROPOSITION_1 = Statement(
    "dana2025.proposition1-checked",
    "Divergence of a fitted attention layer and of the best encoder of its dimension",
    "Proposition 1",
    "dimension d",
    "divergence, nats",
    tuple(
        StatementCell(kind.in_words, dim, AttentionLayer(kind, dim, 5 if dim >= 5 else dim, 0.2, joint=True))
        for kind in (ZIPF, NAMES)
        for dim in (2, 3, 5, 8)
    ),
    (
        Line("best", "attention, W_O and W_U fitted"),
        Line("encoder", "best encoder found", bound=True),
        Line("uniform", "predicting uniform", bound=True),
    ),
    (Claim("floor", "No layer comes closer than the best sequence encoder of its d", AtMost("encoder", "best")),),
    quick=(3,),
    seconds=20,
    quick_seconds=4,
    note="Heads for four fifths of the prior; W_O and W_U by descent over all contexts.",
)

SIZES = ((20, 2, 10, 10), (30, 3, 12, 6), (5, 2, 10, 10), (8, 2, 20, 20), (5, 3, 12, 12), (4, 4, 8, 8))

LEMMA_2 = Statement(
    "dana2025.lemma2-checked",
    "Rank of random attention's features against heads",
    "Lemma 2",
    "heads H",
    "rank",
    tuple(
        StatementCell(
            f"N = {vocab}, S = {context}, d = {dim}, k = {head_dim}",
            heads,
            AttentionRank(vocab, context, dim, head_dim, heads),
        )
        for vocab, context, dim, head_dim in SIZES
        for heads in (1, 2, 3, 8, 20)
    ),
    (
        Line("rank", "rank of random attention"),
        Line("promised", "Hk + d, as printed", bound=True),
        Line("corrected", "min(d, N) + H min(k, N + S - 2)", bound=True),
    ),
    (
        Claim("as-printed", "The features' rank is Hk + d, contexts allowing, as printed", AtMost("promised", "rank")),
        Claim("corrected", "It is min(d, N) + H min(k, d, N + S - 2)", AtMost("corrected", "rank")),
        Claim("never-more", "It is never more than that", AtMost("rank", "corrected")),
    ),
    quick=(1, 3, 8),
    seconds=2,
    quick_seconds=1,
    log_x=True,
)

THEOREM_1 = Statement(
    "dana2025.theorem1-checked",
    "Divergence of an attention layer with heads for all contexts but eps of the prior",
    "Theorem 1",
    "prior left out, eps",
    "divergence above the encoder's, nats",
    tuple(
        StatementCell(f"{kind.in_words}, d = {dim}", epsilon, AttentionLayer(kind, dim, 5, epsilon))
        for kind, dim in ((UNIFORM, 5), (ZIPF, 5), (ZIPF, 10), (NAMES, 5), (NAMES_UNIFORM, 5), (DEFINITIONS, 5))
        for epsilon in EPSILONS
    ),
    (
        Line("proof_gap", "W_O of the proof"),
        Line("convex_gap", "W_O by convex fit"),
        Line("bound", "bound (4), with sqrt 2", bound=True),
        Line("bound_by_ranges", "(19), corrected", bound=True),
        Line("uniform_gap", "predicting uniform", bound=True),
    ),
    (
        Claim("exact", "At eps = 0 the divergence is the encoder's own", AtMost("exact_gap", 1e-9, within=0)),
        Claim("bound", "Bound (4) holds for the W_O of the proof", AtMost("proof_gap", "bound_as_printed")),
        Claim("bound-supported", "So does the one its proof supports, larger by sqrt 2", AtMost("proof_gap", "bound")),
        Claim("convex", "A convex fit of W_O stays below bound (4)", AtMost("convex_gap", "bound_as_printed")),
        Claim("informative", "Bound (4) is below what predicting uniform gives", AtMost("bound_as_printed", "uniform_gap")),
        Claim("proof-useful", "The W_O of the proof is closer than predicting uniform", AtMost("proof", "uniform")),
        Claim("convex-useful", "The convex fit is closer than predicting uniform", AtMost("convex", "uniform")),
    ),
    quick=(0.0, 0.2),
    seconds=75,
    quick_seconds=12,
    log_x=True,
    note="Heads of k = 5; eps = 0 is left off the logarithmic axis.",
)  # fmt: skip

THEOREM_3 = Statement(
    "dana2025.theorem3-checked",
    "Look-up tables in a layer that is exact on all but eps of a Zipf prior",
    "Theorem 3 and inequality (19)",
    "prior left out, eps",
    "divergence, nats",
    (
        *(
            StatementCell("look-up table, d = 2", epsilon, SharpenedTable(25, 400, epsilon))
            for epsilon in (0.025, 0.05, 0.1, 0.2, 0.4)
        ),
        *(StatementCell("sum of 20 contexts", epsilon, OneSumOfMany(20, epsilon)) for epsilon in (0.01, 0.02, 0.05)),
        *THEOREM_1.cells[:12],
    ),
    (
        Line("proof", "W_O of the proof"),
        Line("convex", "W_O by convex fit"),
        Line("epsilon_log", "eps log(1/eps)", bound=True),
        Line("proof_gap", "above the encoder's, W_O of the proof"),
        Line("bound_by_ranges_as_printed", "(19), as printed", bound=True),
        Line("bound_by_ranges", "(19), corrected", bound=True),
    ),
    (
        Claim(
            "order-by-proof",
            "With the W_O of the proof the divergence is of the order of eps log(1/eps)",
            StaysInProportion("proof", "epsilon_log"),
        ),
        Claim(
            "order",
            "Some layer of that size has a divergence of that order: that of the convex fit",
            StaysInProportion("convex", "epsilon_log"),
        ),
        Claim(
            "as-printed", "Inequality (19) holds as printed", AtMost("proof_gap", "bound_by_ranges_as_printed")
        ),
        Claim("corrected", "It holds with E[1 + |c|_1] in place of eps C", AtMost("proof_gap", "bound_by_ranges")),
    ),
    quick=(0.02, 0.025, 0.2, 0.4),
    seconds=10,
    quick_seconds=6,
    run="dana2025.theorem1-checked",
    log_x=True,
    note="The constant of the order depends on attention, which changes with eps.",
)  # fmt: skip

COROLLARY_1 = Statement(
    "dana2025.corollary1-checked",
    "Associations in two dimensions against heads",
    "Corollary 1",
    "heads H",
    "associations",
    (
        *(
            StatementCell(f"d = 2, k = {head_dim}, built", heads, StoredFacts(50, 2, 2, head_dim, heads))
            for head_dim in (1, 2)
            for heads in (10, 50, 100, 200, 400)
        ),
        *(
            StatementCell("d = 2, k = 5, rank", heads, AttentionRank(50, 2, 2, 5, heads))
            for heads in (10, 50, 100, 200)
        ),
    ),
    (
        Line("recalled", "recalled"),
        Line("rank", "rank of random attention"),
        Line("promised", "Hk + 2", bound=True),
    ),
    (
        Claim("recalled", "At d = 2 and k <= 2 all of Hk + 2 associations are recalled", AtMost("promised", "recalled")),
        Claim("parameters", "In 2(S + 2N + 4(T - 2)) parameters", AtMost("parameters", "parameters_stated")),
        Claim("wider-heads", "As printed, k may exceed d = 2", AtMost("promised", "rank")),
    ),
    quick=(10, 100),
    seconds=6,
    quick_seconds=1,
    log_x=True,
    note="N = 50, S = 2, float64.",
)  # fmt: skip

REMARK_2 = Statement(
    "dana2025.remark2-checked",
    "Associations with query-key matrices of rank one, against heads",
    "Remark 2",
    "heads H",
    "associations",
    tuple(
        StatementCell(f"d = 10, k = {head_dim}", heads, StoredFacts(50, 2, 10, head_dim, heads, rank_one=True))
        for head_dim in (5, 10)
        for heads in (5, 10, 20, 40)
    ),
    (Line("recalled", "recalled"), Line("promised", "Hk + d", bound=True)),
    (
        Claim("recalled", "All of Hk + d associations are recalled", AtMost("promised", "recalled")),
        Claim("parameters", "In d(S + 2N + 2(k + 1)H) parameters", AtMost("parameters", "parameters_stated")),
    ),
    quick=(5, 20),
    seconds=2,
    quick_seconds=1,
    log_x=True,
    note="N = 50, S = 2, float64.",
)

COROLLARY_2 = Statement(
    "dana2025.corollary2-checked",
    "Accuracy on 1,000 facts of which Hk + d are stored, against heads",
    "Corollary 2",
    "heads H",
    "accuracy",
    tuple(
        StatementCell(f"d = k = {dim}", heads, StoredFacts(50, 2, dim, dim, heads, facts=1000, draws=8))
        for dim in (5, 10)
        for heads in (5, 10, 20, 40, 80)
    ),
    (
        Line("accuracy", "best of 8 draws"),
        Line("accuracy_mean", "mean of 8 draws"),
        Line("phi", "phi(Hk + d)", bound=True),
    ),
    (Claim("accuracy", "Some layer has an accuracy of phi(Hk + d)", AtMost("phi", "accuracy")),),
    quick=(5, 20),
    seconds=10,
    quick_seconds=2,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2; the facts that are not stored are answered as it happens.",
)

ATTENTION_STATEMENTS = (PROPOSITION_1, LEMMA_2, THEOREM_1, COROLLARY_1, COROLLARY_2, REMARK_2, THEOREM_3)
