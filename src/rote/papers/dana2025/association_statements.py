"""What is stated about associations in one attention layer: Lemma 2, Corollaries 1 and 2, Remark 2."""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import AttentionRank, StoredFacts
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell
from rote.papers.texts import preprint

SIZES = ((20, 2, 10, 10), (30, 3, 12, 6), (5, 2, 10, 10), (8, 2, 20, 20), (5, 3, 12, 12), (4, 4, 8, 8))

LEMMA_2_PRINTED = preprint(
    r"For T_0 token sequences, there exists matrices W_{QK}^i and embeddings e and pos such that the family "
    r"$\{A(t_{1:S})\}_t$ has rank greater than $\min(T_0, Hd)$.",
    "Lemma 2",
)
LEMMA_2_APPLIED = preprint(
    "We can now apply Lemma 2 to A', for some choice of e, pos and W_{QK}^h such that A' has rank T_0 .",
    "Appendix A.2",
)
COROLLARY_1_PRINTED = preprint(
    r"Under Assumption 1, there exist an AoT \mathcal{T} with embedding dimension 2, H attention heads and d_h "
    r"inner head dimension, which can memorize at least $T_0 = Hd_h + 2$ associations, using $2(S + 2N + 4(T_0 - "
    r"2))$ parameters.",
    "Corollary 1",
)
RANK_ONE = preprint(
    r"Let us only consider for the rest of the proof matrices W such that $W_{i,j}=0$ if $i\neq 1$ or $j\neq 1$, which "
    "has rank 1.",
    "Appendix A.1",
)
COROLLARY_2_PRINTED = preprint(
    r"Under Assumption 1, there exist an AoT \mathcal{T} such that "
    r"$\mathbb{E}_{t_{1:S}}[Acc(\mathcal{T}(t_{1:S}))] \geq \frac{1}{N} + (1 - \frac{1}{N}) \frac{Hd_h + d}{To}$.",
    "Corollary 2",
)

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
            "Before the output the rank is min(T, Hd), where k = d",
            AtMost("printed", "rank_before_output"),
            LEMMA_2_PRINTED,
        ),
        Claim(
            "as-applied",
            "With the skip connection it is Hk + d, contexts allowing, as the proof of Theorem 1 needs it",
            AtMost("guaranteed", "rank"),
            LEMMA_2_APPLIED,
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
            "recalled",
            "At d = 2 and k <= 2 all of Hk + 2 associations are recalled",
            AtMost("guaranteed", "recalled"),
            COROLLARY_1_PRINTED,
        ),
        Claim(
            "parameters",
            "In 2(S + 2N + 4(T - 2)) parameters",
            AtMost("parameters", "parameters_stated"),
            COROLLARY_1_PRINTED,
        ),
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
        Claim("recalled", "All of Hk + d associations are recalled", AtMost("guaranteed", "recalled"), RANK_ONE),
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
    (Claim("accuracy", "Some layer has an accuracy of phi(Hk + d)", AtMost("phi", "accuracy"), COROLLARY_2_PRINTED),),
    quick=(5, 20),
    seconds=5,
    quick_seconds=1,
    log_x=True,
    log_y=False,
    note="N = 50, S = 2; the facts that are not stored are answered as it happens.",
)

ASSOCIATION_STATEMENTS = (LEMMA_2, COROLLARY_1, REMARK_2, COROLLARY_2)
