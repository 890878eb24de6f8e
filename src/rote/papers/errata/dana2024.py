"""Dana 2024, the slides."""

from __future__ import annotations

from rote.papers.errata.erratum import Erratum
from rote.papers.texts import SLIDES

DANA2024_ERRATA = (
    Erratum(
        id="dana2024.f_wls",
        paper="dana2024",
        version=SLIDES,
        place="Almost rank d",
        verdict="false",
        title="The bound of f_wls fails if the least squares are weighted by the prior",
        quotation=(
            r"d_{\mathit{KL}}(\pi, f_{\mathit{wls}}) \leq ||\pi||_{+\infty} \sigma_{d+1}^2 + "
            r"\left(\frac{||\pi||_{+\infty}}{||\pi||_{-\infty}}\right)^{\frac{3}{2}} \sigma_{d+1}^3"
        ),
        counterexample=(
            "N = 3, d = 1, two contexts: (1/3 + 1e-7, 1/3 - 1e-7, 1/3) and, with prior 1e-12, (0.4995, 0.4995, "
            "0.001). The weighted fit meets the likely row and predicts uniform for the other. The divergence is "
            "4.0e-13; sigma_2 is 4.2e-7 and the bound 9.1e-14."
        ),
        truth=(
            "The slide does not say whether sqrt(pi) contains the prior. Here it does, and sigma is of the centred "
            "log pi. For weights without the prior the bound is not decided. What holds for any fit is the expansion "
            "bound E_t phi(m_t) Var_pi(Delta_t) of `rote.constructions.dana2025.least_squares`."
        ),
        tests=("test_the_bound_of_f_wls_fails_for_an_unlikely_context",),
    ),
    Erratum(
        id="dana2024.f_ls",
        paper="dana2024",
        version=SLIDES,
        place="Almost rank d",
        verdict="sharper statement",
        title="f_ls has a bound without third-order terms",
        quotation=(
            r"d_{KL}(\pi, f_{ls}) \leq N||\pi||_{+\infty}^2 \sigma_{d+1}^2 + (N||\pi||_{+\infty})^{\frac{3}{2}} "
            r"\sigma_{d+1}^3"
        ),
        truth=(
            "It holds. So does min(|pi| sigma^2 / 2 + 0.0454 sigma^3, sigma^2 / 4), which is never larger; the second "
            "is Hoeffding's lemma."
        ),
        tests=("test_bounds_of_least_squares_hold",),
    ),
    Erratum(
        id="dana2024.centring",
        paper="dana2024",
        version=SLIDES,
        place="Optimal Linear Mapping",
        verdict="sharper statement",
        title="Centre the rows of log pi first",
        quotation=r"so if  $L = \log(\pi)$  has rank d.",
        truth=(
            "A softmax does not see a constant per context, so divergence 0 needs rank d only of the centred log pi, "
            "which has singular values no larger."
        ),
        tests=("test_centring_rows_never_hurts_the_bound",),
    ),
    Erratum(
        id="dana2024.associative-memory",
        paper="dana2024",
        version=SLIDES,
        place="Associative memory",
        verdict="sharper statement",
        title="Outer products store about d associations only if answers are few",
        quotation=r"they show the model can remember association, but only d of them.",
        truth=(
            "With unit vectors the noise on a wrong answer has variance T/(M d) + T/d^2 with M answers. If every fact "
            "has its own answer the memory holds of the order of d^2 over a logarithm: 13, 36, 110, 300 facts at d = "
            "16, 32, 64, 128 (largest T with every answer right). With ten answers it is 7, 19, 31 at d = 16, 32, 64."
        ),
        tests=("test_outer_products_hold_more_than_d_when_every_fact_has_its_own_answer",),
    ),
    Erratum(
        id="dana2024.low-entropy",
        paper="dana2024",
        version=SLIDES,
        place="Bound on the divergence",
        verdict="sharper statement",
        title="The low-entropy theorem holds with a smaller factor",
        quotation=r"\right]\left(\frac{1+4\mathit{C}}{1-2\mathit{C}}\right)",
        truth=(
            "It follows from Theorem 2 of 2025 without its total-variation term, with 1 + 2C in place of 1 + 4C, H "
            "again the sum of pi log pi."
        ),
        tests=("test_the_low_entropy_theorem_of_the_slides_holds",),
    ),
)
