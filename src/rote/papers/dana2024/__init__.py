"""Dana 2024, slides "Memorization in Attention-only Transformers": its theorems and bounds, to be checked.

The slides announce what Dana, Pydi and Chevaleyre 2025 prove, and two encoders that the paper does not have.
"""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import Distributions, LookUpRows, Modules, NearlyRankD, UnlikelyContext
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell
from rote.papers.texts import slides

MODULES = slides(
    r"There exist a transformer  $T^*$  with embedding dimension d,  $\lceil \frac{N_c}{d} \rceil$  total parallel "
    "attention module",
    "Attention-only Transformers, Theorem",
)
GAP = slides(
    r"|d_{KL}(\pi, f_{W^*}) - d_{KL}(\pi, T^*)| \le \varepsilon \sigma_1(f_{W^*}) C(d, N, k, N_{\varepsilon})",
    "Attention-only Transformers, Theorem",
)
RANK_D = slides(r"so if  $L = \log(\pi)$  has rank d.", "Optimal Linear Mapping")
LEAST_SQUARES = slides(
    r"d_{KL}(\pi, f_{ls}) \leq N||\pi||_{+\infty}^2 \sigma_{d+1}^2 + (N||\pi||_{+\infty})^{\frac{3}{2}} \sigma_{d+1}^3",
    "Almost rank d",
)
WEIGHTED = slides(
    r"d_{\mathit{KL}}(\pi, f_{\mathit{wls}}) \leq ||\pi||_{+\infty} \sigma_{d+1}^2 + "
    r"\left(\frac{||\pi||_{+\infty}}{||\pi||_{-\infty}}\right)^{\frac{3}{2}} \sigma_{d+1}^3",
    "Almost rank d",
)
LOW_ENTROPY = slides(
    r"d_{\mathit{KL}}(\pi,f) \leq \mathbb{E}_{t_{1:S}}\left[\left(1 - \pi(g(t_{1:S})|t_{1:S})\right)\log\left("
    r"\frac{\mathit{N}-1}{e^{-\mathit{H}(\pi_{t_{1:S}})}-1}\right)\right]\left(\frac{1+4\mathit{C}}{1-2\mathit{C}}"
    r"\right)",
    "Bound on the divergence, Theorem",
)

MODULES_CHECKED = Statement(
    "dana2024.modules-checked",
    "Attention modules of width d without a skip connection, for all contexts but eps of a Zipf prior",
    "Theorem",
    "prior left out, eps",
    "rank, contexts",
    tuple(
        StatementCell(f"N = {vocab}, d = {dim}", epsilon, Modules(vocab, 120, dim, epsilon))
        for vocab, dim in ((15, 5), (15, 10), (40, 10))
        for epsilon in (0.0, 0.05, 0.2, 0.4)
    ),
    (Line("rank", "rank of ceil(N_eps / d) modules"), Line("contexts", "N_eps", bound=True)),
    (
        Claim("modules", "ceil(N_eps / d) modules have rank N_eps", AtMost("contexts", "rank"), MODULES),
        Claim(
            "gap",
            "The divergence differs from the encoder's by at most eps sigma_1 C, with the C of Theorem 1",
            AtMost("gap", "bound_as_printed"),
            GAP,
        ),
    ),
    quick=(0.0, 0.2),
    seconds=10,
    quick_seconds=3,
    log_y=False,
    note="Random distributions after two tokens, d <= N: the rank falls short beyond N + S - 2 (errata.md).",
)

ALMOST_RANK_D = Statement(
    "dana2024.almost-rank-d-checked",
    "Divergence of least-squares encoders against what rank d leaves out of log pi",
    "Almost rank d",
    "size of what is left out",
    "divergence, nats",
    (
        *(
            StatementCell(f"N = {vocab}, d = {dim}", size, NearlyRankD(60, vocab, dim, size))
            for vocab, dim in ((10, 3), (30, 8))
            for size in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0)
        ),
        *(StatementCell("one unlikely context, N = 3, d = 1", prior, UnlikelyContext(prior)) for prior in (0.1, 1e-12)),
    ),
    (
        Line("f_ls", "f_ls"),
        Line("f_wls", "f_wls"),
        Line("bound_of_f_ls", "bound of f_ls", bound=True),
        Line("bound_of_f_wls", "bound of f_wls", bound=True),
        Line("sharper_bound_of_f_ls", "bound of f_ls, sharper", bound=True),
    ),
    (
        Claim("rank-d", "Divergence 0 if log pi has rank d", AtMost("f_ls_at_rank_d", 1e-12, within=0), RANK_D),
        Claim("f-ls", "The bound of f_ls holds", AtMost("f_ls", "bound_of_f_ls"), LEAST_SQUARES),
        Claim(
            "f-wls",
            "The bound of f_wls holds, at a uniform prior",
            AtMost("f_wls", "bound_of_f_wls"),
            WEIGHTED,
        ),
        Claim(
            "f-wls-any-prior",
            "It holds at any prior, if the weights contain it",
            AtMost("f_wls_unlikely", "bound_of_f_wls_unlikely", within=0),
        ),
        Claim("f-ls-sharper", "A bound without N holds for f_ls", AtMost("f_ls", "sharper_bound_of_f_ls")),
    ),
    quick=(0.0, 0.1, 1.0, 1e-12),
    seconds=3,
    quick_seconds=1,
    log_x=True,
    note="Random log pi of rank d plus normal noise of this size; the prior where one context is unlikely.",
)

LOW_ENTROPY_CHECKED = Statement(
    "dana2024.low-entropy-checked",
    "Divergence of scaled, nearly orthogonal rows, N = 1,000, and the slides' bound on it",
    "Bound on the divergence",
    "dimension d",
    "divergence, nats",
    tuple(
        StatementCell(f"noisy table, noise {noise:g}", dim, LookUpRows(kind, dim))
        for noise in (0.1, 0.5)
        for kind in (Distributions("noisy table", 1000, 60, "uniform", noise=noise),)
        for dim in (890, 950, 998)
    ),
    (Line("by_equation_6", "encoder"), Line("bound_of_slides", "bound of the slides", bound=True)),
    (
        Claim(
            "bound",
            "The bound with (1 + 4C)/(1 - 2C) holds, where C < 1/2",
            AtMost("by_equation_6", "bound_of_slides"),
            LOW_ENTROPY,
        ),
        Claim(
            "informative",
            "It is below what predicting uniform gives",
            AtMost("bound_of_slides", "uniform"),
        ),
    ),
    quick=(890,),
    seconds=5,
    quick_seconds=1,
    note="C < 1/2 from d = 885 on at N = 1,000; H is the sum of pi log pi, as in the paper.",
)

DANA2024_STATEMENTS = (MODULES_CHECKED, ALMOST_RANK_D, LOW_ENTROPY_CHECKED)
