"""Dana, Pydi and Chevaleyre 2025: Lemma 2, Theorem 1 at epsilon = 0, and what follows from them."""

from __future__ import annotations

from rote.papers.dana2025.association_statements import LEMMA_2_PRINTED
from rote.papers.errata.erratum import Erratum
from rote.papers.texts import PREPRINT

ASSOCIATION_ERRATA = (
    Erratum(
        id="dana2025.lemma2",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4.1, Lemma 2",
        verdict="false",
        title="Lemma 2 needs d <= N + S - 2, and a condition on the token sequences",
        quotation=LEMMA_2_PRINTED.words,
        counterexample=(
            "N = 2, S = 2, d = 4, H = 1, all 4 contexts: min(T_0, Hd) = 4. Attention outputs are a_1 x_1 + a_2 x_2 "
            "with a_1 + a_2 = 1, combinations of e(1) + pos_2, e(2) - e(1) and pos_1 - pos_2, so the rank is at most "
            "3. A larger dictionary does not help: at N = 4 = d the same 4 contexts of two tokens have rank 3."
        ),
        truth=(
            "Weights of the N tokens sum to one, as do those of the S positions. So on any set U of contexts one head "
            "adds at most a(U) <= N + S - 2 dimensions to the skip connection, with N the tokens of U. On all "
            "contexts and with S >= 2, d >= 2, k <= d, k <= N almost every layer has rank min(N^S, min(d, N) + Hk). "
            "On a set T of contexts the rank is at most |T \\ U| + min(d, last tokens of U) + H min(k, a(U)) for "
            "every U; for S = 2 the minimum over U is the rank. Proof and certified range: [lemma2.md](lemma2.md). "
            "`rote.rank` is the corrected bound."
        ),
        tests=(
            "test_lemma_2_fails_on_four_contexts",
            "test_rank_is_smaller_than_promised",
            "test_rank_of_every_set_of_pairs_is_the_minimum_over_its_subsets",
            "test_facts_that_crowd_on_few_tokens_need_narrower_heads",
        ),
    ),
    Erratum(
        id="dana2025.lemma2-proof-last-step",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.1, last sentence",
        verdict="unproved",
        title="The proof of Lemma 2 needs S >= d",
        quotation=(
            r"The matrix $\mathcal{N}X(t)$ has non-zero determinant by property of Lemma 3, so the system's only "
            r"solution is for $v_t = 0$."
        ),
        counterexample=(
            "N X(t) is a product through the S positions, so its rank is at most S and its determinant zero for S < "
            "d. Any v_t orthogonal to the S vectors x(t, 1..S) solves (7) for every W. The experiments have S = 2 and "
            "d from 2 to 60."
        ),
        truth="A proof by the poles of the softmax in complex scores needs only S >= 2: [lemma2.md](lemma2.md).",
        tests=("test_the_proof_of_lemma_2_needs_s_at_least_d",),
    ),
    Erratum(
        id="dana2025.lemma2-proof-hyperplane",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.1, after the definition of f",
        verdict="unproved",
        title="A span that fills the space does not give matrices of full rank",
        quotation=(
            r"It is in fact sufficient to have the image of f not contained in any hyperplane of \mathbb{R}^{d,T_0} , "
            r"which is the property we will prove."
        ),
        counterexample=(
            "The matrices u w^T span R^{d x T} and lie in no hyperplane, but each has rank one: concatenating one of "
            "them raises a rank by one, not by d. The property proves one dimension per head, which is Lemma 2 with 1 "
            "in place of d."
        ),
        truth="In [lemma2.md](lemma2.md) one head has poles at k contexts at once, with independent residues.",
        tests=("test_no_hyperplane_does_not_mean_full_rank",),
    ),
    Erratum(
        id="dana2025.lemma3",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.5, proof of Lemma 3",
        verdict="misprint or convention",
        title="Lemma 3: outside every kernel, not in all of them",
        quotation=r"Thus there exist $x \in \bigcap_{P \in \mathbb{Z}[X_1, ..., X_n]^*} Ker(P)$.",
        counterexample="No x is in the kernel of the constant polynomial 1.",
        truth=(
            "The x that exists lies in no kernel: the union of the kernels has measure 0. For example exp(sqrt 2), "
            "exp(sqrt 3), exp(sqrt 5) and so on, by the theorem of Lindemann and Weierstrass."
        ),
        tests=("test_lemma_3_by_numbers_that_are_independent",),
    ),
    Erratum(
        id="dana2025.theorem1-exact",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4, Theorem 1, at epsilon = 0",
        verdict="false",
        title="Theorem 1 fails where d_h and d are large for the tokens that occur",
        quotation=(
            r"Let $\varepsilon \geq 0$ and $\gamma > 0$. Under Assumption 2 there exists $f_{W,E}$ and an AoT "
            r"\mathcal{T} with embedding dimension d, head dimension d_h , and H attention heads, satisfying $d_h H "
            r"+ d \geq T_{\epsilon}$"
        ),
        counterexample=(
            "N = 4, S = 2, d = d_h = 8, H = 1, uniform prior: d_h H + d = 16 = T_0. Since d >= N - 1 the theorem "
            "gives divergence below any gamma for every pi, so logits dense in 16 x 3 = 48 dimensions. But the logits "
            "(up to a constant per context) depend on 4 x 3 numbers of the skip connection and, for the head, on 16 "
            "differences of scores and 4 x 3 numbers of values: 40. A set of dimension 40 that is definable with exp "
            "has a closure of dimension 40."
        ),
        truth=(
            "Theorem 1 holds at epsilon = 0 where the features have rank T_0: for S >= 2, k <= d <= N and facts that "
            "crowd on no few tokens ([lemma2.md](lemma2.md)). Where the rank is smaller it is open: at N = 4, S = 2, "
            "d = d_h = 6, H = 2 the rank is 12 of 16, and attention fitted together with values still meets random pi "
            "to rounding."
        ),
        tests=(
            "test_theorem_1_fails_by_counting",
            "test_theorem_1_can_hold_where_lemma_2_fails",
            "test_the_promise_is_refused_with_the_reason",
            "test_as_many_facts_as_the_rank_are_stored",
        ),
    ),
    Erratum(
        id="dana2025.skip-connection",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4, Remarks 1",
        verdict="sharper statement",
        title="The skip connection is exact: no lambda, no gamma",
        quotation=(
            r"The term in γ is simply a term that can be taken infinitely close to 0, and accounts for approximating "
            r"the skip connection with a special attention head."
        ),
        truth=(
            "Solve E = x_S M + sum_h V_h B_h with M (d x d) free, then W_U = W M^T and W_O = B M^-1. That needs M "
            "invertible, which it is for almost every right-hand side. The divergence is then the encoder's own, "
            "without gamma: below 1e-15 nats above it in float64 on three tasks of 300 to 1000 contexts."
        ),
        tests=(
            "test_skip_map_reproduces_the_solved_columns",
            "test_zero_slack_in_float32",
            "test_enough_heads_need_no_limit",
        ),
    ),
    Erratum(
        id="dana2025.covering-number",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4, before Theorem 1",
        verdict="misprint or convention",
        title='T_eps: "at least", not "greater than"',
        quotation=(
            r"Define T_{ε} as the smallest number of token sequences whose cumulative probability is greater than "
            r"$1-\varepsilon$. We have $T_{\varepsilon} \leq \lceil (1-\varepsilon)N^S \rceil$"
        ),
        counterexample=(
            "At eps = 0 no probability is greater than 1, so T_0 would not exist. At eps = 1/2 and two equally likely "
            "sequences T_eps would be 2 > ceil(1)."
        ),
        truth='With "at least" the inequality holds for every prior, with equality for the uniform one.',
        tests=("test_the_covering_number_is_at_most_its_uniform_value",),
    ),
    Erratum(
        id="dana2025.previous-bound",
        paper="dana2025",
        version=PREPRINT,
        place="Section 1, and Previous lower bound in Section 4.2",
        verdict="note",
        title="The previous bound at context length 2",
        quotation=(
            r"In the context of language model, this improves on the previous result on the attention layer "
            r"expressivity by [9] which requires a limited context-windows and has memorization capacity"
        ),
        truth=(
            "H(d_h - 1) + 1 is quoted and plotted. The theorem of Mahdavi et al. has min(n, d_h) in place of d_h, "
            "with n the context length: at S = 2 it gives H + 1. `rote bounds` shows both, under their own names."
        ),
        tests=("test_published_example",),
    ),
    Erratum(
        id="dana2025.position-groups",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4.1, Lemma 2",
        verdict="note",
        title="Positions that share no tokens lose one more dimension",
        quotation=LEMMA_2_PRINTED.words,
        truth=(
            "In keys such as (relation, country) each group of positions that shares tokens fixes one more sum of "
            "weights: with g groups a head adds at most N + S - g - 1 dimensions."
        ),
        tests=("test_positions_that_share_no_tokens_cost_one_more_dimension", "test_groups_are_counted"),
    ),
)
