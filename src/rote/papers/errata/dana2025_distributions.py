"""Dana, Pydi and Chevaleyre 2025: Theorem 1 at epsilon > 0, Theorem 2, Lemma 4 and Theorem 3."""

from __future__ import annotations

from rote.papers.errata.erratum import Erratum
from rote.papers.texts import PREPRINT

DISTRIBUTION_ERRATA = (
    Erratum(
        id="dana2025.factor-two",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.2, last line of (14), against (4) and (15)",
        verdict="misprint or convention",
        title="Bound (4) drops a factor 2 of its proof",
        quotation=(
            r"\leq 2\mathbb{E}_{t_{1:S}} \left[||W_{U}(W_{O}W_{V}A' - E)t_{1:S}||_{2}} "
            r"+ o(e^{-\lambda\alpha}) \right]"
        ),
        counterexample=(
            "(15) bounds the expectation by C eps |WE|_2, so the proof gives 2 C eps |WE|_2, and (4) prints C eps "
            "|WE|_2 with the same C. The factor comes from max_i |e_i - pi|_2, which reaches sqrt 2 > 1, so it cannot "
            "be left out."
        ),
        truth=(
            "The factor that the proof supports is sqrt 2: |I - 1 pi^T| from the Euclidean to the maximum norm is "
            "max_i |e_i - pi|_2 <= sqrt 2. No case in which (4) fails as printed is known."
        ),
        tests=("test_the_norm_behind_bound_4_is_at_most_sqrt_2",),
    ),
    Erratum(
        id="dana2025.theorem1-approximate",
        paper="dana2025",
        version=PREPRINT,
        place="Section 4, Theorem 1 at epsilon > 0",
        verdict="note",
        title="The W_O of the proof is worse than predicting uniform",
        quotation=(r"d_{KL}(\pi, \mathcal{T}) \le d_{KL}(\pi, \mathcal{L}(N, S, d)) + C\varepsilon ||WE||_2 + \gamma"),
        truth=(
            "The bound is true with a large C: what comes out on unlikely contexts is not small for being unlikely. "
            "With N = 15, 120 contexts, d = k = 5, prior 1/rank and eps = 0.18 the divergence is 8.4 nats with the "
            "W_O of the proof, 0.99 for the uniform prediction, and 0.44 with W_O fitted to the divergence. That fit "
            "is convex, so nothing with the same unembedding and the same attention does better. Over random and real "
            "distributions the W_O of the proof is worse than uniform in 53 of 56 trials "
            "([statements.md](statements.md))."
        ),
        tests=("test_the_papers_output_is_worse_than_predicting_uniform",),
    ),
    Erratum(
        id="dana2025.theorem2-range-of-h",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.3, before the bound on lambda",
        verdict="misprint or convention",
        title="The sign of H in one line of the proof of Theorem 2",
        quotation=r"For each $t_{1:S}$, $H(\pi_{t_{1:S}}) \in [0, \log(N)]$",
        counterexample=(
            "Elsewhere H is the sum of pi log pi, which lies in [-log N, 0]: the text after Theorem 2 has H = -log(N) "
            "for the uniform distribution, and (6) equates -H with a number between 0 and log N."
        ),
        truth=(
            "With H = sum pi log pi, Theorem 2, equation (6) and its limits are right as printed, and this line "
            "should read -H in [0, log N]. rote writes h = -H for the entropy."
        ),
        tests=("test_theorem_2_holds_with_the_papers_sign_of_h",),
    ),
    Erratum(
        id="dana2025.theorem2-total-variation",
        paper="dana2025",
        version=PREPRINT,
        place="Section 5, Theorem 2",
        verdict="sharper statement",
        title="Theorem 2 needs no total-variation term",
        quotation=r"\left(\frac{1 + 2C + Cd_{TV}(\tilde{\pi}_{t_{1:S}}, \pi_{unif})}{1 - 2C} \right)",
        truth=(
            "With gap_j = (W_g - W_j) . W_g the divergence of a context is lambda sum_j pi_j gap_j, each gap is at "
            "most 1 + 2C, and lambda <= log((N - 1)/(e^h - 1)) / min gap. So (1 + 2C)/(1 - 2C) suffices, and so does "
            "largest gap over smallest gap of the rows at hand. Minimising over lambda is never worse than (6): at N "
            "= 1000, d = 900 and 5 % of even noise 0.0027 against 0.363."
        ),
        tests=(
            "test_theorem_2_holds_with_the_papers_sign_of_h",
            "test_choosing_the_scale_directly_is_much_better_than_equation_6",
        ),
    ),
    Erratum(
        id="dana2025.theorem2-useful",
        paper="dana2025",
        version=PREPRINT,
        place="Section 5, Theorem 2",
        verdict="note",
        title="Theorem 2 says something from N = 869 on",
        quotation=r"||WW^T - I_d||_{\infty} \le C = \sqrt{\frac{32\log(N+1)}{d}}",
        truth=(
            "The bound needs C < 1/2, so d > 128 ln(N + 1), and from d = N - 1 on the divergence is 0 by Proposition "
            "2. A d between exists from N = 869 on."
        ),
        tests=("test_theorem_2_says_something_only_from_869_tokens_on",),
    ),
    Erratum(
        id="dana2025.simpler-bound",
        paper="dana2025",
        version=PREPRINT,
        place="Section 5, after Theorem 2",
        verdict="unproved",
        title="The simpler bound does not follow from Theorem 2",
        quotation=r"A simpler bound for Theorem 2 can be found by simplifying the expectation, and gives",
        counterexample=(
            "log((N - 1)/(e^h - 1)) is convex in h, so Jensen's inequality goes the other way. At W = I (C = 0), N = "
            "8 and two equally likely contexts that leave 1/2 to one other token and to all seven, the encoder of "
            "Theorem 2 has 0.609 and the simpler bound 0.567. Where g is wrong about a context that is nearly certain "
            "the encoder's divergence is unbounded and the simpler bound is not."
        ),
        truth=(
            "What fails is the derivation, for the encoder of Theorem 2. Whether the infimum over all encoders obeys "
            "the simpler bound is open where the theorem applies; at W = I it is 0."
        ),
        tests=(
            "test_the_simpler_bound_after_theorem_2_does_not_follow",
            "test_the_simpler_bound_is_missed_by_any_factor_where_the_table_is_wrong",
        ),
    ),
    Erratum(
        id="dana2025.lemma4",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.4, Lemma 4",
        verdict="false",
        title="Lemma 4: the range of the logits need not be O(log 1/delta)",
        quotation=(
            r"Then, for all $t_{1:S}$, $\max_i f_{\delta}(t_{1:S})_i - \min_i f_{\delta}(t_{1:S})_i = "
            r"O\left(\log\left(\frac{1}{\delta}\right)\right)$."
        ),
        counterexample=(
            "pi = (1, 0, 0) and f_delta = (0, log(delta/2), -1/delta): log(pi/softmax) lies between delta/4 and "
            "delta, so (16) holds with c = 1/4 and alpha = 1, and the range is 1/delta."
        ),
        truth=(
            "(16) says nothing about how fast the logit of a token of probability 0 falls once another such token "
            "carries the error. The proof divides by 1 - max alpha_j, which is 0 here (alpha_2 = 1). For N = 2, or if "
            "f_delta may be replaced by one whose logits are cut off at log(delta/N) below the largest, the range is "
            "O(log 1/delta); cutting off may change the rank."
        ),
        tests=("test_lemma_4_fails_on_three_tokens",),
    ),
    Erratum(
        id="dana2025.inequality19",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.4, inequality (19), first line",
        verdict="unproved",
        title="Inequality (19) uses a constant for Euclidean norms with ranges",
        quotation=(
            r"Now, we use the bound from Theorem 1 in equation (14) and (15), but we don't majorate $||I_d - "
            r"\mathbb{1}\Pi_{t_{1:S}}^T||_{2,\infty}$."
        ),
        counterexample=(
            "Unlikely contexts get logits sum_j c_j f(j) over the likely ones, whose range is bounded by |c|_1, not "
            "by C >= |c|_2. With features e_1 ... e_20 on 20 likely contexts with one logit vector, and their sum on "
            "an unlikely one, the gap is 0.187 and (19) allows 0.047. No attention layer with such features is known, "
            "and none of 18 attention layers tried breaks (19)."
        ),
        truth="With E[1 + |c_t|_1] over the unlikely contexts in place of eps C the inequality holds.",
        tests=("test_inequality_19_needs_the_sum_of_absolute_coefficients",),
    ),
    Erratum(
        id="dana2025.theorem3",
        paper="dana2025",
        version=PREPRINT,
        place="Appendix A.4, Theorem 3",
        verdict="unproved",
        title="Theorem 3 rests on Lemma 4 and on a constant that may depend on eps",
        quotation=(
            r"d_{KL}(\pi, \mathcal{T}^*) \le d_{KL}(\pi, \mathcal{M}(N, S, d)) + O\left(\varepsilon "
            r"\log\left(\frac{1}{\varepsilon}\right)\right)"
        ),
        counterexample=(
            "The last line of (19) is Lemma 4, which is false. Besides, the C of Theorem 1 depends on which contexts "
            "are likely, so on eps."
        ),
        truth=(
            "For one pi the order says nothing: below the smallest prior no context is left out. As a bound uniform "
            "in pi it is open. No run of finitely many eps decides it."
        ),
        tests=("test_lemma_4_fails_on_three_tokens", "test_below_the_smallest_prior_nothing_is_left_out"),
    ),
)
