"""Items of Kajitsuka and Sato 2025."""

from __future__ import annotations

from rote.papers.coverage.item import Item

KAJITSUKA2025_ITEMS = (
    Item(
        "Width 14, depth sqrt N",
        "Theorem 4.1",
        "whole",
        ("kajitsuka2025.theorem4_1", "kajitsuka2025.theorem4_1-checked"),
    ),
    Item("Hardly influenced by the length n", "Abstract", "whole", ("kajitsuka2025.any-length-checked",)),
    Item("Remark on the setting", "Remark 3.1", "missing", (), "Its text is in none of the sources at hand."),
    Item("Deep sets", "Remark 4.1", "whole", ("kajitsuka2025.theoremD_1-checked",)),
    Item("Embedding layer", "Remark 4.2", "whole", ("kajitsuka2025.remarkE_1-checked",)),
    Item(
        "Dependence on d",
        "Remark 4.3",
        "whole",
        ("test_each_dimension_of_the_tokens_costs_one_parameter", "rote.constructions.kajitsuka2025.real_tokens"),
    ),
    Item(
        "Contextual mapping, (r, delta)",
        "Definition 4.1",
        "whole",
        ("rote.constructions.kajitsuka2025.codes", "test_sequence_ids_are_a_contextual_mapping"),
    ),
    Item("Bit counts", "Remark 4.4", "whole", ("kajitsuka2025.theorem4_2-checked", "kajitsuka2025.theoremF_1-checked")),
    Item(
        "Lower bound sqrt N",
        "Theorem 4.2",
        "partial",
        ("kajitsuka2025.theorem4_2-checked",),
        "Networks far above it do not test it; no search for smaller ones at small N.",
    ),
    Item(
        "A label at every position",
        "Corollary 4.1",
        "whole",
        ("kajitsuka2025.corollary4_1", "kajitsuka2025.theorem4_3-checked"),
    ),
    Item(
        "Necessary with hardmax",
        "Theorem 4.3",
        "partial",
        ("kajitsuka2025.theorem4_3-checked", "test_uniform_attention_is_the_same_under_hardmax"),
        "The construction is the same under hardmax; the lower bound is not tested by it.",
    ),
    Item("Sparse Transformers", "Remark 4.5", "missing", (), "Its text is in none of the sources at hand."),
    Item(
        "MultiNLI",
        "Figures 1, 2",
        "partial",
        ("kajitsuka2025.three-classes",),
        "Run on WordNet definitions, not on MultiNLI.",
    ),
    Item("IMDb", "Figures 4, 5", "partial", ("kajitsuka2025.two-classes",), "Run on WordNet definitions, not on IMDb."),
    Item(
        "Smallest size for MultiNLI",
        "Figure 7",
        "partial",
        ("kajitsuka2025.blocks",),
        "Run on WordNet definitions, not on MultiNLI.",
    ),
    Item(
        "The feed-forward network is the bottleneck",
        "Abstract",
        "whole",
        ("test_the_second_network_is_what_labels_at_every_position_cost",),
    ),
    Item(
        "Open: softmax bounds, other equivariant architectures",
        "Summary",
        "whole",
        ("kajitsuka2025.theorem4_3",),
        "Open.",
    ),
    Item(
        "Comparison of results",
        "Table 1",
        "partial",
        ("docs/bounds.md",),
        "The rows are results; the printed table was not at hand to compare with.",
    ),
)
