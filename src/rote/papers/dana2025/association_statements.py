"""What is stated about associations in one attention layer: Lemma 2, Corollaries 1 and 2, Remark 2."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import AttentionRank, StoredFacts
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell

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
        Line("guaranteed", "Hk + d", bound=True),
        Line("corrected", "min(d, N) + H min(k, N + S - 2)", bound=True),
    ),
    (
        Claim(
            "as-printed",
            "The features' rank is Hk + d, contexts allowing, as the proof of Theorem 1 needs it",
            AtMost("guaranteed", "rank"),
        ),
        Claim("corrected", "It is min(d, N) + H min(k, d, N + S - 2)", AtMost("corrected", "rank")),
        Claim("never-more", "It is never more than that", AtMost("rank", "corrected")),
    ),
    quick=(1, 3, 8),
    seconds=1,
    quick_seconds=1,
    log_x=True,
)

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
        Line("guaranteed", "Hk + 2", bound=True),
    ),
    (
        Claim(
            "recalled", "At d = 2 and k <= 2 all of Hk + 2 associations are recalled", AtMost("guaranteed", "recalled")
        ),
        Claim("parameters", "In 2(S + 2N + 4(T - 2)) parameters", AtMost("parameters", "parameters_stated")),
        Claim(
            "wider-heads",
            "With k = 5 at d = 2, as experiment 6 is printed, there is rank for Hk + 2",
            AtMost("guaranteed", "rank"),
        ),
    ),
    quick=(10, 100),
    seconds=1,
    quick_seconds=1,
    log_x=True,
    note="N = 50, S = 2, float64.",
)

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
    (Line("recalled", "recalled"), Line("guaranteed", "Hk + d", bound=True)),
    (
        Claim("recalled", "All of Hk + d associations are recalled", AtMost("guaranteed", "recalled")),
        Claim("parameters", "In d(S + 2N + 2(k + 1)H) parameters", AtMost("parameters", "parameters_stated")),
    ),
    quick=(5, 20),
    seconds=1,
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
    seconds=5,
    quick_seconds=1,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2; the facts that are not stored are answered as it happens.",
)

ASSOCIATION_STATEMENTS = (LEMMA_2, COROLLARY_1, REMARK_2, COROLLARY_2)
