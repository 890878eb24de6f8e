"""What is stated about attention with a separate query: Theorem 1, built at its size, and its tightness."""

from __future__ import annotations

from rote.papers.claims import Claim, Quotation
from rote.papers.kinds.statement_settings import BuiltQueryAttention, QueryAttentionRank
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell
from rote.papers.texts import MAHDAVI, preprint

HEADS = (1, 2, 5, 10, 20)

OMEGA = Quotation(
    r"Under these assumptions, we demonstrate that an attention layer with $H$ heads, dimension $d$, and context size "
    r"$n < d$, featuring $\Theta(Hd^2)$ parameters, can memorize $\Omega(Hn)$ examples.",
    "abstract",
    MAHDAVI,
)
TIGHT = preprint(
    "And as stated in their Proposition 2, this bound is tight in case where the keys are shared by all examples, "
    "making the queries the only way to distinguish examples.",
    "Section 6 of Dana et al. 2025, on this paper",
)

THEOREM_1 = Statement(
    "mahdavi2024.theorem1-checked",
    "Labels of exactly H(min(n, k) - 1) + 1 examples, built by the proof, against heads",
    "Theorem 1",
    "heads H",
    "examples",
    tuple(
        StatementCell(
            f"{'shared' if shared else 'fresh'}, n = {context}, k = {head_dim}, d = {dim}",
            heads,
            BuiltQueryAttention(heads, context, head_dim, dim, shared),
        )
        for context, head_dim, dim in ((8, 8, 16), (16, 6, 32), (16, 32, 32))
        for shared in (True, False)
        for heads in HEADS
    ),
    (Line("recalled", "recalled"), Line("guaranteed", "H(min(n, k) - 1) + 1", bound=True)),
    (Claim("recalled", "All of H(min(n, k) - 1) + 1 labels are recalled", AtMost("guaranteed", "recalled"), OMEGA),),
    quick=(1, 5),
    seconds=2,
    quick_seconds=1,
    log_x=True,
    note="The proof's own heads; ten classes, normal vectors, float64.",
)

PROPOSITION_2 = Statement(
    "mahdavi2024.proposition2-checked",
    "Rank of fixed attention's outputs against heads",
    "Proposition 2",
    "heads H",
    "rank",
    tuple(
        StatementCell(
            f"{'shared' if shared else 'fresh'}, n = {context}, k = {head_dim}, d = {dim}",
            heads,
            QueryAttentionRank(heads, context, head_dim, dim, shared),
        )
        for context, head_dim, dim, shared in (
            (8, 8, 16, True),
            (16, 32, 32, True),
            (32, 32, 64, True),
            (8, 2, 16, True),
            (16, 4, 32, True),
            (8, 8, 16, False),
        )
        for heads in HEADS
    ),
    (
        Line("rank", "rank of random attention"),
        Line("guaranteed", "H(min(n, k) - 1) + 1", bound=True),
        Line("largest_rank", "H(n - 1) + 1, or Hd with fresh contexts", bound=True),
    ),
    (
        Claim("at-most", "With one context the rank is at most H(n - 1) + 1", AtMost("rank_shared", "tight"), TIGHT),
        Claim("reached", "Random attention reaches it", AtMost("tight", "rank_shared")),
        Claim(
            "fits",
            "So many random targets are fitted exactly by the readout",
            AtMost("error_at_largest", 1e-15, within=0),
        ),
        Claim("one-more", "One more is not", AtMost(1e-12, "error_at_one_more", within=0)),
        Claim(
            "narrow-heads", "With k < n the rank is at most H(min(n, k) - 1) + 1", AtMost("rank_narrow", "guaranteed")
        ),
        Claim(
            "fresh-contexts",
            "With fresh contexts it is at most H(n - 1) + 1 as well",
            AtMost("rank_fresh", "tight_if_shared"),
        ),
        Claim("fresh-at-most", "With fresh contexts it is at most Hd", AtMost("rank_fresh", "largest_rank")),
        Claim("fresh-reached", "Random attention reaches Hd", AtMost("heads_times_dim", "rank_fresh")),
    ),
    quick=(1, 5),
    seconds=2,
    quick_seconds=1,
    log_x=True,
    note="Normal vectors; mean squared error of targets of variance one.",
)

STATEMENTS = (THEOREM_1, PROPOSITION_2)
