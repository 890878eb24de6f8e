"""Items of Kajitsuka and Sato 2025."""

from __future__ import annotations

from pages.coverage.item import Item

KAJITSUKA2025_ITEMS = (
    Item(
        "Width 14, depth sqrt N",
        "Theorem 4.1",
        "complete",
        ("kajitsuka2025.theorem4_1", "kajitsuka2025.theorem4_1-checked"),
    ),
    Item("Hardly influenced by the length n", "Abstract", "complete", ("kajitsuka2025.any-length-checked",)),
    Item("Remark on the setting", "Remark 3.1", "missing", (), "Its text is in none of the sources at hand."),
    Item("Deep sets", "Remark 4.1", "complete", ("kajitsuka2025.theoremD_1-checked",)),
    Item("Embedding layer", "Remark 4.2", "complete", ("kajitsuka2025.remarkE_1-checked",)),
    Item(
        "Dependence on d",
        "Remark 4.3",
        "complete",
        ("test_each_dimension_of_the_tokens_costs_one_parameter", "rote.constructions.kajitsuka2025.real_tokens"),
    ),
    Item(
        "Contextual mapping, (r, delta)",
        "Definition 4.1",
        "complete",
        ("rote.constructions.kajitsuka2025.codes", "test_sequence_ids_are_a_contextual_mapping"),
    ),
    Item(
        "Bit counts", "Remark 4.4", "complete", ("kajitsuka2025.theorem4_2-checked", "kajitsuka2025.theoremF_1-checked")
    ),
    Item(
        "Lower bound sqrt N",
        "Theorem 4.2",
        "complete",
        (
            "kajitsuka2025.theorem4_2-checked",
            "kajitsuka2025.small-networks-checked",
            "test_sine_networks_break_the_rule_that_relu_networks_keep",
        ),
        "Not tested by the construction, which is far above it. A search at N = 4, 9, 16 finds no smaller network, at "
        "constant one; the theorem is an order and names none.",
    ),
    Item(
        "A label at every position",
        "Corollary 4.1",
        "complete",
        ("kajitsuka2025.corollary4_1", "kajitsuka2025.theorem4_3-checked"),
    ),
    Item(
        "Necessary with hardmax",
        "Theorem 4.3",
        "complete",
        (
            "kajitsuka2025.theorem4_3-checked",
            "kajitsuka2025.small-networks-checked",
            "test_labels_are_recalled_with_hardmax_in_place_of_softmax",
        ),
        "Sufficiency is run with hardmax. Necessity is not tested by the construction, which is far above the bound; "
        "the search at small N is the one of Theorem 4.2.",
    ),
    Item("Sparse Transformers", "Remark 4.5", "missing", (), "Its text is in none of the sources at hand."),
    Item(
        "MultiNLI",
        "Figures 1, 2",
        "partial",
        ("kajitsuka2025.three-classes",),
        "Run on WordNet definitions, not on MultiNLI.",
    ),
    Item(
        "IMDb",
        "Figures 4, 5",
        "complete",
        ("kajitsuka2025.two-classes", "rote.tasks.labelled_text", "docs/kajitsuka2025.md"),
        "Run on IMDb's training part. The tokenizer is ours, since the paper's is not stated in the text at hand.",
    ),
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
        "complete",
        (
            "kajitsuka2025.theorem4_3-checked",
            "test_the_second_network_is_what_labels_at_every_position_cost",
        ),
    ),
    Item(
        "Open: softmax bounds, other equivariant architectures",
        "Summary",
        "complete",
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
