"""What is stated about distributions in one attention layer: Proposition 1, Theorems 1 and 3."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import AttentionLayer, Distributions, OneSumOfMany, SharpenedTable
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell, StaysInProportion
from rote.papers.texts import preprint

UNIFORM, ZIPF = Distributions("random", 15, 120), Distributions("random", 15, 120, "zipf")
NAMES = Distributions("names", None, 200, "own", noise=0.01)
NAMES_UNIFORM = Distributions("names", None, 200, "uniform", noise=0.01)
DEFINITIONS = Distributions("definitions", 100, 200, "own", noise=0.01)
EPSILONS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)

AT_MOST_AS_WELL = preprint(
    "Thus, as stated in Proposition 1 below, Transformers can memorize distribution at most as well as the best "
    "sequence encoders.",
    "Section 3, Proposition 1",
)
EPSILON_0 = preprint(
    r"One can take $\varepsilon = 0$ to achieve the lower bound set in Proposition 1 with $Hd_h + d = T_0$ "
    r"attention heads",
    "Remarks 1",
)
BOUND_4 = preprint(
    r"d_{KL}(\pi, \mathcal{T}) \le d_{KL}(\pi, \mathcal{L}(N, S, d)) + C\varepsilon ||WE||_2 + \gamma",
    "Theorem 1, (4)",
)
BOUND_17 = preprint(
    r"d_{KL}(\pi, \mathcal{T}^*) \le d_{KL}(\pi, \mathcal{M}(N, S, d)) + O\left(\varepsilon "
    r"\log\left(\frac{1}{\varepsilon}\right)\right)",
    "Theorem 3, (17)",
)
BOUND_19 = preprint(
    r"|d_{KL}(\pi, \mathcal{T}) - d_{KL}(\pi, f_{\delta})| \leq \varepsilon C \max_{t_{1:S}} ||(I_{d} - "
    r"\mathbb{1}\Pi_{t_{1:S}}^{T}) f_{\delta}||_{\infty}",
    "Appendix A.4, (19)",
)

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
    (
        Claim(
            "floor",
            "No layer that was fitted comes closer than the best encoder of its d",
            AtMost("encoder", "best"),
            AT_MOST_AS_WELL,
        ),
    ),
    quick=(3,),
    seconds=12,
    quick_seconds=2,
    note="Heads for four fifths of the prior; W_O and W_U by descent over all contexts.",
)

THEOREM_1 = Statement(
    "dana2025.theorem1-checked",
    "Divergence of an attention layer with heads for all contexts but eps of the prior",
    "Theorem 1",
    "prior left out, eps",
    "above the encoder's, nats",
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
        Claim(
            "exact", "At eps = 0 the divergence is the encoder's own", AtMost("exact_gap", 1e-9, within=0), EPSILON_0
        ),
        Claim("bound", "Bound (4) holds for the W_O of the proof", AtMost("proof_gap", "bound_as_printed"), BOUND_4),
        Claim("bound-supported", "So does the one its proof supports, larger by sqrt 2", AtMost("proof_gap", "bound")),
        Claim("convex", "A convex fit of W_O stays below bound (4)", AtMost("convex_gap", "bound_as_printed")),
        Claim(
            "informative", "Bound (4) is below what predicting uniform gives", AtMost("bound_as_printed", "uniform_gap")
        ),
        Claim("proof-useful", "The W_O of the proof is closer than predicting uniform", AtMost("proof", "uniform")),
        Claim("convex-useful", "The convex fit is closer than predicting uniform", AtMost("convex", "uniform")),
    ),
    quick=(0.0, 0.2),
    seconds=46,
    quick_seconds=7,
    log_x=True,
    note="Heads of k = 5; eps = 0 is left off the logarithmic axis.",
)

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
            "With the W_O of the proof the divergence stays in proportion to eps log(1/eps) here",
            StaysInProportion("proof", "epsilon_log"),
        ),
        Claim(
            "order",
            "With the convex fit the divergence is of the order eps log(1/eps)",
            StaysInProportion("convex", "epsilon_log"),
            BOUND_17,
            cannot_fail="finitely many eps decide nothing about an order",
        ),
        Claim(
            "as-printed",
            "The first step of (19) holds for features of attention",
            AtMost("proof_gap", "bound_by_ranges_as_printed"),
            BOUND_19,
        ),
        Claim(
            "any-features",
            "It holds for any features, those of no attention layer included",
            AtMost("proof_gap", "bound_of_any_features"),
        ),
        Claim("corrected", "It holds with E[1 + |c|_1] in place of eps C", AtMost("proof_gap", "bound_by_ranges")),
    ),
    quick=(0.02, 0.025, 0.2, 0.4),
    seconds=15,
    quick_seconds=3,
    run="dana2025.theorem1-checked",
    log_x=True,
    note="The constant of the order depends on attention, which changes with eps.",
)

ATTENTION_STATEMENTS = (PROPOSITION_1, THEOREM_1, THEOREM_3)
