"""Items of Mahdavi, Liao and Thrampoulidis 2024, and what its reviewers asked."""

from __future__ import annotations

from pages.coverage.item import Item

MAHDAVI2024_ITEMS = (
    Item(
        "Omega(Hn) examples",
        "Abstract, Theorem 1",
        "complete",
        ("mahdavi2024.theorem1", "mahdavi2024.theorem1-checked"),
    ),
    Item(
        "Theta(Hd^2) parameters",
        "Abstract",
        "complete",
        ("test_parameters_of_query_attention_are_of_the_order_h_d_squared",),
    ),
    Item("Heads specialise", "Abstract", "complete", ("mahdavi2024.saturated",)),
    Item(
        "Assumptions milder than general position",
        "Assumptions 1, 2",
        "complete",
        ("rote.lm.assumptions", "docs/assumptions.md", "test_the_interval_of_a_share_holds_it"),
        "Sampled subsets bound the share that violates an assumption about every n queries; they cannot prove it.",
    ),
    Item("Saturation of the softmax", "Abstract", "complete", ("mahdavi2024.saturated",)),
    Item("Linear in H", "Experiments", "complete", ("mahdavi2024.heads",)),
    Item("Grows with n", "Experiments", "complete", ("mahdavi2024.context",)),
    Item("No gain beyond d_h = n", "Experiments, review", "complete", ("mahdavi2024.head_dim",)),
    Item("Published grids", "Experiments", "partial", ("mahdavi2024.h",), "Six points of nine grids have been run."),
    Item(
        "Real-world data",
        "Review",
        "complete",
        ("rote.real-texts", "docs/assumptions.md"),
        "Definitions as word vectors; images have not been run.",
    ),
    Item("Layers", "Review", "complete", ("rote.depth", "dana2025.fig8"), "Query attention in one to four layers."),
    Item(
        "Assumptions on language", "Review", "complete", ("docs/assumptions.md",), "MiniLM and SmolLM2, n = 32 and 16."
    ),
    Item(
        "What is memorized, shown",
        "Review",
        "complete",
        ("rote.measure.inspection", "docs/page.md", "mahdavi2024.saturated"),
        "Direct logit attribution and ablation of each head for each fact, in models that were built or trained "
        "here, as the paper's are; how heads share the examples is judged in mahdavi2024.saturated.",
    ),
)
