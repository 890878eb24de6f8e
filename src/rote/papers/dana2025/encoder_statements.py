"""What is stated about sequence encoders: Propositions 2 and 3, and Theorem 2 with the bound that follows it."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import BestEncoder, Circle, Distributions, LookUpRows, TwoContexts
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell
from rote.papers.texts import preprint

SMALL, NAMES = Distributions("random", 10, 60), Distributions("names", None, 200, "own", noise=0.01)

ENOUGH = preprint(
    r"For any distribution π , if $d \ge N - 1$, then $d_{KL}(\pi, \mathcal{L}(N, S, d)) = 0$.", "Proposition 2"
)
CONVERSELY = preprint(
    r"Conversely, if d < N - 1, there exists a distribution π such that $d_{KL}(\pi, \mathcal{L}(N, S, d)) > 0$.",
    "Proposition 2",
)
NO_BOTTLENECK = preprint(
    "For the association task, the bottleneck doesn't exist in any embedding dimension d.", "Section 3"
)
TWO_DIMENSIONS = preprint(
    r"Under Assumption 1, for $d \geq 2$, $d_{KL}(\pi, \mathcal{L}(N, S, d)) = 0$.", "Proposition 3"
)
SOLVABLE = preprint(r"Thus there exists a solution $\lambda(t_{1:S})$ to equation (6).", "Appendix A.3")
BOUND_2 = preprint(
    r"d_{KL}(\pi, \mathcal{L}(N, S, d)) \leq \mathbb{E}_{t_{1:S}} \left[(1 - \pi(g(t_{1:S}) | t_{1:S})) \log \left("
    r"\frac{N - 1}{e^{-H(\pi_{t_{1:S}})} - 1} \right) \left(\frac{1 + 2C + Cd_{TV}(\tilde{\pi}_{t_{1:S}}, "
    r"\pi_{unif})}{1 - 2C} \right) \right]",
    "Theorem 2",
)
NEARLY_ORTHOGONAL = preprint(r"||WW^T - I_d||_{\infty} \le C = \sqrt{\frac{32\log(N+1)}{d}}", "Theorem 2")

PROPOSITION_2 = Statement(
    "dana2025.proposition2-checked",
    "Divergence of the best encoder against its dimension",
    "Proposition 2",
    "dimension d",
    "divergence, nats",
    tuple(
        StatementCell(f"{kind.in_words}, N = {vocab}", dim, BestEncoder(kind, dim))
        for kind, vocab, dims in ((SMALL, 10, (1, 2, 4, 6, 8, 9, 12)), (NAMES, 33, (2, 4, 8, 16, 31, 32, 40)))
        for dim in dims
    ),
    (Line("divergence", "best encoder found"), Line("uniform", "predicting uniform", bound=True)),
    (
        Claim(
            "zero-from-enough",
            "From d = N - 1 on an encoder meets every distribution",
            AtMost("divergence_at_enough", 1e-12, within=0),
            ENOUGH,
        ),
        Claim(
            "rank-below",
            "Below d = N - 1 some distribution stays out of reach: rank d leaves out a direction of log pi",
            AtMost(1e-6, "singular_value_left_out", within=0),
            CONVERSELY,
        ),
        Claim(
            "away-below",
            "Below d = N - 1 no encoder that was found meets it",
            AtMost(1e-9, "divergence_below", within=0),
        ),
    ),
    quick=(2, 8, 9, 32),
    seconds=10,
    quick_seconds=2,
    note="Below d = N - 1 fits find the divergence from above; from there on it is zero, off the axis.",
)

PROPOSITION_3 = Statement(
    "dana2025.proposition3-checked",
    "Associations by an encoder of dimension 2",
    "Proposition 3",
    "facts in the table",
    "facts recalled",
    tuple(
        StatementCell("tables", facts, Circle(table))
        for facts, table in (
            (500, "countries:facts=500"),
            (987, "countries"),
            (2000, "wordnet:facts=2000"),
            (7884, "airports"),
        )
    ),
    (Line("recalled", "recalled"), Line("facts", "facts", bound=True)),
    (
        Claim("all-recalled", "At d = 2 every association is recalled", AtMost("facts", "recalled"), NO_BOTTLENECK),
        Claim(
            "no-divergence",
            "Their divergence is as small as required, 1e-6",
            AtMost("divergence", 1e-6),
            TWO_DIMENSIONS,
        ),
    ),
    quick=(500, 987),
    seconds=2,
    quick_seconds=1,
    repeats=1,
    log_x=True,
    note="Countries, airports, and WordNet nouns to hypernyms; float64.",
)

KINDS = (
    Distributions("noisy table", 1000, 60, "uniform", noise=0.1),
    Distributions("noisy table", 1000, 60, "zipf", noise=0.5),
    Distributions("definitions", 1000, 60, "own"),
)
DIMS = (300, 890, 920, 950, 998)

THEOREM_2 = Statement(
    "dana2025.theorem2-checked",
    "Divergence of scaled, nearly orthogonal rows, N = 1,000, and the bounds on it",
    "Theorem 2",
    "dimension d",
    "divergence, nats",
    tuple(
        StatementCell(
            f"{kind.in_words}" + (f", noise {kind.noise:g}" if kind.noise else ""), dim, LookUpRows(kind, dim)
        )
        for kind in KINDS
        for dim in DIMS
    ),
    (
        Line("by_equation_6", "lambda by (6)"),
        Line("direct", "lambda by minimising"),
        Line("bound", "bound with the printed C", bound=True),
        Line("bound_of_rows", "bound with the rows' own gaps", bound=True),
        Line("uniform", "predicting uniform", bound=True),
    ),
    (
        Claim(
            "as-printed",
            "Equation (6) has a solution for every context, with the paper's H, the sum of pi log pi",
            AtMost("contexts", "contexts_solvable"),
            SOLVABLE,
        ),
        Claim(
            "bound",
            "The bound holds, also without its total-variation term, which only enlarges it",
            AtMost("by_equation_6", "bound"),
            BOUND_2,
        ),
        Claim("own-gaps", "So does the one with the rows' own gaps for C", AtMost("by_equation_6", "bound_of_rows")),
        Claim("coherence", "Random rows have |W W^T - I| <= C", AtMost("coherence", "constant"), NEARLY_ORTHOGONAL),
        Claim(
            "informative",
            "The bound with the printed C is below what predicting uniform gives",
            AtMost("bound", "uniform"),
        ),
        Claim(
            "own-gaps-informative",
            "The bound with the rows' own gaps is below what predicting uniform gives",
            AtMost("bound_of_rows", "uniform"),
        ),
        Claim("direct", "Minimising over lambda is never worse than equation (6)", AtMost("direct", "by_equation_6")),
    ),
    quick=(300, 890, 998),
    seconds=12,
    quick_seconds=3,
    note="The printed C is below 1/2 from d = 885 on.",
)

SIMPLER = Statement(
    "dana2025.theorem2-simpler-checked",
    "The simpler bound, where W = I and Theorem 2's encoder meets its own bound",
    "After Theorem 2",
    "doubt about the likeliest token",
    "divergence, nats",
    tuple(
        StatementCell("two contexts, N = 8", 0.5 if doubt is None else doubt, TwoContexts(doubt))
        for doubt in (None, 1e-1, 1e-2, 1e-4, 1e-6)
    ),
    (
        Line("by_equation_6", "lambda by (6)"),
        Line("bound", "Theorem 2, corrected", bound=True),
        Line("simpler_bound", "simpler bound", bound=True),
    ),
    (
        Claim(
            "simpler",
            "The simpler bound after Theorem 2 holds for the theorem's own encoder",
            AtMost("by_equation_6", "simpler_bound"),
        ),
        Claim("theorem", "Theorem 2's own bound does", AtMost("by_equation_6", "bound")),
    ),
    quick=(0.5, 1e-2, 1e-6),
    seconds=1,
    quick_seconds=1,
    repeats=1,
    log_x=True,
    log_y=False,
    note="One context leaves 1/2 to seven tokens; the other 1/2 to one, or is nearly sure of one that g does not name.",
)

ENCODER_STATEMENTS = (PROPOSITION_2, PROPOSITION_3, THEOREM_2, SIMPLER)
