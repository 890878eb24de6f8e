"""Items of the slides of Dana 2024."""

from __future__ import annotations

from pages.coverage.item import Item

DANA2024_ITEMS = (
    Item("W = sum of u_g(i) e_i^T", "Associative memory", "complete", ("bietti2023.outer_product",)),
    Item(
        "Only d of them",
        "Associative memory",
        "complete",
        ("test_outer_products_hold_more_than_d_when_every_fact_has_its_own_answer",),
    ),
    Item(
        "ceil(N_eps / d) modules, gap eps sigma_1 C",
        "Theorem",
        "complete",
        ("dana2024.modules-checked", "test_modules_without_a_skip_connection"),
    ),
    Item(
        "Divergence 0 if log pi has rank d",
        "Optimal Linear Mapping",
        "complete",
        ("dana2024.almost-rank-d-checked", "test_log_pi_of_rank_d_is_met_exactly"),
    ),
    Item("d >= N - 1 always", "Optimal Linear Mapping", "complete", ("dana2025.proposition2-checked",)),
    Item(
        "f_ls and its bound",
        "Almost rank d",
        "complete",
        ("dana2024.almost-rank-d-checked", "test_bounds_of_least_squares_hold", "docs/errata.md"),
    ),
    Item(
        "f_wls and its bound",
        "Almost rank d",
        "complete",
        (
            "dana2024.almost-rank-d-checked",
            "test_the_bound_of_f_wls_fails_for_an_unlikely_context",
            "docs/errata.md",
        ),
        "False if the weights contain the prior.",
    ),
    Item(
        "Low-entropy theorem, (1 + 4C)/(1 - 2C)",
        "Bound on the divergence",
        "complete",
        ("dana2024.low-entropy-checked", "test_the_low_entropy_theorem_of_the_slides_holds", "docs/errata.md"),
    ),
    Item(
        "Limitation: the sparse regime dP < N_eps",
        "Conclusion",
        "complete",
        ("rote.sparse-regime", "dana2025.theorem1-checked", "rote.readout"),
    ),
    Item(
        "Limitation: memorization in a real Transformer's attention layer",
        "Conclusion",
        "complete",
        ("docs/where_smollm2.md", "docs/smollm2_countries.md", "docs/assumptions.md"),
        "Facts, assumptions and the share of attention are measured in one small language model.",
    ),
    Item(
        "A limit in quality, not in quantity",
        "Experimental validation",
        "complete",
        ("dana2025.proposition2-checked", "dana2025.proposition3-checked"),
    ),
    Item(
        "How does it memorize, by which algorithm",
        "Introduction",
        "complete",
        ("rote.algorithm", "rote.measure.inspection", "docs/open_questions.md"),
        "One trained layer: its features are fitted to the facts and read from all heads. A built one is a linear "
        "solve.",
    ),
)
