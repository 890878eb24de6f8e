"""Notes on the other papers: about building what they prove. None of their statements is corrected."""

from __future__ import annotations

from rote.papers.claims import Quotation
from rote.papers.errata.erratum import Erratum, Verdict
from rote.papers.kajitsuka2025.statements import LITTLE_INFLUENCE, WIDTH_14
from rote.papers.mahdavi2024.statements import OMEGA, TIGHT
from rote.papers.texts import MADDEN, NICHANI, preprint

NEURONS = preprint(
    r"If the head has to learn the mask, then the construction still uses one attention per neuron, but each head "
    r"needs to satisfy $d_h \geq 1+S$ and $d \geq 2+S$.",
    "Attention simulating MLPs, in Section 6 of Dana et al.",
)
LINEAR_MEMORIES = Quotation(
    "We begin by proving that the storage capacities of both linear and MLP associative memories scale linearly with "
    "parameter count.",
    "abstract",
    NICHANI,
)
ONE_LAYER = Quotation(
    "Our lower bounds are for one-layer multi-head decoder-only transformers and our proofs highlight an important "
    "injectivity property satisfied by self-attention.",
    "abstract",
    MADDEN,
)


def _note(
    id: str, quoted: Quotation, place: str, title: str, truth: str, *tests: str, verdict: Verdict = "note"
) -> Erratum:
    """A note on the statement at `place`; `quoted` is what the text that was read prints of it, with its own place."""
    where = place if place == quoted.place else f"{place}; quoted: {quoted.place}"
    return Erratum(id, id.partition(".")[0], quoted.text, where, verdict, title, quoted.words, truth, tests)


OTHER_NOTES = (
    _note(
        "mahdavi2024.score-size",
        OMEGA,
        "Theorem 1, with random heads",
        "Small scores are badly conditioned",
        "To first order in the scores every head is linear in the query, so all heads together have rank d + 1. At d "
        "= 64, n = 32, H = 20, k = 32 and 621 examples with one context the condition number is about 4e6 at a score "
        "standard deviation of 0.1, 1e5 at 1, and 1e4 to 5e4 between 2 and 10. Default: 3.",
        "test_moderate_scores_are_better_conditioned_than_small_ones",
    ),
    _note(
        "mahdavi2024.narrow-heads",
        OMEGA,
        "Theorem 1",
        "The head dimension does not limit the rank",
        "The theorem is a lower bound, H(min(n, k) - 1) + 1. Scores of rank k < n pass through a softmax, so at n = "
        "32 random heads of dimension 2 already have rank H(n - 1) + 1 = 621. Dimension 1 falls short in float64.",
        "test_rank_is_that_of_the_context_even_for_narrow_heads",
        verdict="sharper statement",
    ),
    _note(
        "mahdavi2024.largest-rank",
        TIGHT,
        "Theorem 1",
        "The largest rank in general",
        "With a the dimension of the affine hull of all tokens of all contexts it is Ha, plus one if the hull misses "
        "the origin: H(n - 1) + 1 for one context of rank n, Hd for contexts that span.",
        "test_shared_context_has_rank_621_however_many_examples",
        "test_fresh_contexts_reach_heads_times_dim",
        verdict="sharper statement",
    ),
    _note(
        "mahdavi2024.signs",
        OMEGA,
        "proof of Theorem 1",
        "The heads of the proof, made definite",
        "Each head owns r - 1 examples and saturates on all others. In a shared context what saturation leaves is a "
        "matrix of signs, which can be singular by chance. Choosing, for each head's last example, the token that "
        "adds to the determinant makes it nonsingular always.",
        "test_any_small_task_is_stored_with_the_heads_it_asks_for",
    ),
    _note(
        "kajitsuka2025.long-words",
        WIDTH_14,
        "Theorem 4.1",
        "Words longer than a float's are silently wrong",
        "The construction needs integers of hundreds of bits. A float64 cast of such a network gives wrong labels. "
        "Networks carry the bits they need, and a dtype that cannot hold them is rejected.",
        "test_long_words_are_refused_by_every_float",
        "test_a_narrower_cast_is_refused",
    ),
    _note(
        "kajitsuka2025.uniform-softmax",
        LITTLE_INFLUENCE,
        "Theorem 4.1, uniform attention",
        "Uniform softmax attention is not exact unless the length is a power of two",
        "1/n is rounded; a snap block after attention restores whole numbers.",
        "test_without_snapping_a_length_that_is_no_power_of_two_goes_wrong",
        "test_any_length_is_right_in_floating_point",
    ),
    _note(
        "kajitsuka2025.order",
        WIDTH_14,
        "Theorem 4.1, uniform attention",
        "Averages are blind to order",
        "Positions must enter the token where order counts.",
        "test_order_that_does_not_count_cannot_tell_orders_apart",
        "test_order_counts_in_fact_tables",
    ),
    _note(
        "nichani2024.constant",
        LINEAR_MEMORIES,
        "capacity of a trained linear memory",
        "d^2/(2 ln T) is passed at the four sizes measured",
        "Trained memories hold 1.86, 1.76, 1.67, 1.60 times that at d = 16, 32, 64, 128. It is for facts with an "
        "answer each: M < d answers use M - 1 rows of W, and capacity is linear in d (4.4 d for ten answers).",
        "test_training_exceeds_the_predicted_capacity_and_counting_stops_it",
        "test_few_answers_hold_fewer_facts",
    ),
    _note(
        "huben2023.one-dimension-less",
        NEURONS,
        "one head per neuron",
        "One dimension less",
        "With a resting position of zeros in front, inputs of D numbers at S positions take a stream of D + S, so d "
        ">= S + 1 where S + 2 is quoted; k = S + 1 as quoted. If only the last position is asked, k = 1 is enough.",
        "test_silu_is_exact_at_every_position",
        verdict="sharper statement",
    ),
    _note(
        "huben2023.resting-position",
        NEURONS,
        "one head per neuron",
        "Token contexts have no resting position",
        "One layer cannot read the context before its neurons do, so an MLP memory becomes an attention-only model of "
        "two layers. The first position can be made to rest exactly, since causal attention sees only itself there.",
        "test_memory_equals_its_mlp_on_every_context_there_is",
    ),
    _note(
        "madden2025.thresholds",
        ONE_LAYER,
        "lower bound",
        "Thresholds must lie among the inputs",
        "Gaussian biases leave neurons that are on, or off, for every context; with ReLU a square system is then "
        "singular. Quantiles of each neuron's own inputs give condition numbers of 1e4 to 1e6 in an exactly "
        "determined system.",
        "test_thresholds_outside_the_inputs_make_relu_singular",
    ),
    _note(
        "madden2025.dimension",
        ONE_LAYER,
        "lower bound, for distributions",
        "Distributions need dim >= vocab - 1 besides the neurons",
        "The unembedding has rank d.",
        "test_what_cannot_be_is_refused",
    ),
)
