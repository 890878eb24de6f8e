"""What is stated about memorizers: sizes that are enough, sizes that are needed, and the remarks on variants.

Parameters are weights and biases that are not zero; everything is evaluated in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import replace

from rote.papers.claims import Claim, Quotation
from rote.papers.kinds.statement_settings import Memorizer, PositionMemorizer, SmallNetworks
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell, number_grows_as
from rote.papers.texts import KAJITSUKA, KAJITSUKA_LISTING

COUNTS, FEWER = (64, 128, 256, 512, 1024, 2048, 4096), (64, 256, 1024, 2048)
RANDOM, DEFINITIONS = "random tokens, n = 8", "WordNet definitions, n = 8"
RECALLED = Claim("recalled", "Every label is recalled", AtMost("sequences", "recalled"))
WIDTH_14 = Quotation(
    r"Then, there exists a Transformer $\mathcal{N}:\mathbb{R}^{d \times n} \to \mathbb{R}^n$ with width $14$ and "
    r"depth $\tilde{O}(\sqrt{N})$ that memorizes the dataset",
    "Theorem 4.1",
    KAJITSUKA_LISTING,
)
ROOT_N = Quotation(
    r"We demonstrate that Transformers can memorize labels with $\tilde{O}(\sqrt{N})$ parameters in a next-token "
    r"prediction setting for $N$ input sequences of length $n$, which is proved to be optimal up to logarithmic "
    r"factors.",
    "abstract",
    KAJITSUKA,
)
LITTLE_INFLUENCE = Quotation(
    "This indicates that Transformers can efficiently perform memorization with little influence from the input length "
    "$n$ owing to the benefit of parameter sharing.",
    "abstract",
    KAJITSUKA,
)
NECESSARY = Quotation(
    r"We also analyze the memorization capacity in the sequence-to-sequence setting, and find that "
    r"$\tilde{O}(\sqrt{nN})$ parameters are not only sufficient, but also necessary at least for Transformers with "
    "hardmax.",
    "abstract",
    KAJITSUKA,
)
BOTTLENECK = Quotation(
    "These results suggest that while self-attention mechanisms can efficiently identify input sequences, the "
    "feed-forward network becomes a bottleneck when associating a label to each token.",
    "abstract",
    KAJITSUKA,
)
LARGER = "the construction is some fifty times larger than the bound, so that it cannot fall below it"
PIGEONHOLE = "counting proves it of every network that recalls all labels"
SQUARE_ROOT = (0.45, 0.65)
"""Exponents that sqrt(N) with factors of log N looks like between these N."""
BY_SEQUENCES = (
    *(StatementCell(RANDOM, count, Memorizer("random", count, 8)) for count in COUNTS),
    *(StatementCell(DEFINITIONS, count, Memorizer("definitions", count, 8)) for count in COUNTS),
)

THEOREM_4_1 = Statement(
    "kajitsuka2025.theorem4_1-checked",
    "Parameters of the memorizer against sequences N",
    "Theorem 4.1",
    "sequences N",
    "parameters",
    BY_SEQUENCES,
    (Line("parameters", "parameters"), Line("depth", "depth"), Line("parameters_by_counting", "sqrt(N)", bound=True)),
    (
        replace(RECALLED, quotation=WIDTH_14),
        Claim("width", "Its width is at most 14", AtMost("width", 14.0), WIDTH_14),
        Claim(
            "depth", "Its depth grows as sqrt(N), logarithms aside", number_grows_as("depth", *SQUARE_ROOT), WIDTH_14
        ),
        Claim("parameters", "So do its parameters", number_grows_as("parameters", *SQUARE_ROOT), ROOT_N),
    ),
    quick=(64, 128, 256, 512),
    seconds=10,
    quick_seconds=1,
    log_x=True,
)

LENGTH = Statement(
    "kajitsuka2025.any-length-checked",
    "Parameters of the memorizer against the length n, N = 512",
    "Theorem 4.1, abstract",
    "length n",
    "parameters",
    tuple(StatementCell("random tokens", n, Memorizer("random", 512, n)) for n in (4, 8, 16, 32, 64, 128, 256)),
    (Line("parameters", "parameters"), Line("parameters_by_counting", "sqrt(N)", bound=True)),
    (
        RECALLED,
        Claim(
            "length",
            "The length hardly matters to them: no power of it",
            number_grows_as("parameters", -0.1, 0.1),
            LITTLE_INFLUENCE,
        ),
    ),
    quick=(4, 8, 16, 64),
    seconds=2,
    quick_seconds=1,
    log_x=True,
)

THEOREM_4_2 = Statement(
    "kajitsuka2025.theorem4_2-checked",
    "Parameters and bits of the memorizer beside what counting asks for",
    "Theorem 4.2 and Remark 4.4",
    "sequences N",
    "parameters, bits",
    BY_SEQUENCES,
    (
        Line("parameters", "parameters"),
        Line("parameters_by_counting", "sqrt(N): Theorem 4.2, constant one", bound=True),
        Line("bits", "bits of all parameters"),
        Line("label_bits", "bits of the labels", bound=True),
    ),
    (
        Claim(
            "lower-bound",
            "It takes no fewer than sqrt(N) parameters",
            AtMost("parameters_by_counting", "parameters"),
            ROOT_N,
            cannot_fail=LARGER,
        ),
        Claim(
            "counting",
            "It takes no fewer bits than the labels have",
            AtMost("label_bits", "bits"),
            cannot_fail=PIGEONHOLE,
        ),
        Claim(
            "optimal",
            "Bits of the memorizer grow no faster than N, logarithms aside",
            number_grows_as("bits", 0.5, 1.15),
        ),
    ),
    quick=(64, 128, 256, 512),
    seconds=10,
    quick_seconds=1,
    run="kajitsuka2025.theorem4_1-checked",
    log_x=True,
)

THEOREM_4_3 = Statement(
    "kajitsuka2025.theorem4_3-checked",
    "Parameters of the memorizer with a label at every position, against positions nN",
    "Corollary 4.1 and Theorem 4.3",
    "positions nN",
    "parameters, bits",
    tuple(
        StatementCell(f"n = {context}", context * count, PositionMemorizer(count, context))
        for context, counts in ((8, (16, 32, 64, 128, 256, 512)), (32, (4, 8, 16, 32, 64, 128)))
        for count in counts
    ),
    (
        Line("parameters", "parameters"),
        Line("parameters_by_counting", "sqrt(nN / log nN): Theorem 4.3, constant one", bound=True),
        Line("bits", "bits of all parameters"),
        Line("label_bits", "bits of the labels", bound=True),
    ),
    (
        Claim("recalled", "The label at every position is recalled", AtMost("positions", "recalled"), NECESSARY),
        Claim(
            "parameters",
            "Parameters grow as sqrt(nN), logarithms aside",
            number_grows_as("parameters", *SQUARE_ROOT),
            NECESSARY,
        ),
        Claim(
            "hardmax",
            "With hardmax in place of softmax every label is recalled as well",
            AtMost("positions", "recalled_by_hardmax"),
            NECESSARY,
        ),
        Claim(
            "bottleneck",
            "The feed-forward network after attention takes most of the parameters",
            AtMost("first_network", "second_network"),
            BOTTLENECK,
        ),
        Claim(
            "lower-bound",
            "It takes no fewer than sqrt(nN / log nN)",
            AtMost("parameters_by_counting", "parameters"),
            NECESSARY,
            cannot_fail=LARGER,
        ),
        Claim(
            "counting",
            "It takes no fewer bits than the labels have",
            AtMost("label_bits", "bits"),
            cannot_fail=PIGEONHOLE,
        ),
    ),
    quick=(128, 256, 512, 1024),
    seconds=6,
    quick_seconds=1,
    log_x=True,
    note="Uniform attention in place of hardmax; distinct tokens within a sequence.",
)

THEOREM_F_1 = Statement(
    "kajitsuka2025.theoremF_1-checked",
    "Parameters of memorizers whose words have at most B bits, against sequences N",
    "Theorem F.1",
    "sequences N",
    "parameters",
    tuple(
        StatementCell(f"B = {bits}", count, Memorizer("random", count, 8, bits=bits))
        for bits in (18, 24, 32, 53)
        for count in (512, 1024, 2048, 4096, 8192)
    ),
    (
        Line("parameters", "parameters"),
        Line("parameters_by_bits", "bits of the labels / B", bound=True),
        Line("longest_word", "bits of the longest word"),
    ),
    (
        RECALLED,
        Claim("bits", "No word is longer than B bits", AtMost("longest_word", "limit")),
        Claim(
            "counting",
            "It takes no fewer than the labels' bits over B",
            AtMost("parameters_by_bits", "parameters"),
            cannot_fail=PIGEONHOLE,
        ),
        Claim("linear", "At given B parameters grow at most as N", number_grows_as("parameters", 0.3, 1.05)),
    ),
    quick=(512, 1024, 2048),
    seconds=24,
    quick_seconds=3,
    repeats=1,
    log_x=True,
)

SMALL_NETWORKS = Statement(
    "kajitsuka2025.small-networks-checked",
    "Labelings of N inputs by ReLU networks of few parameters, against parameters",
    "Theorem 4.2 at small N",
    "parameters",
    "labelings",
    tuple(
        StatementCell(f"N = {count}", parameters, SmallNetworks(count, parameters))
        for count, few in ((4, (1, 2, 4, 8)), (9, (1, 2, 4, 8, 12)), (16, (1, 2, 3, 4, 8, 12)))
        for parameters in few
    ),
    (Line("labelings", "labelings found"), Line("all_but_one", "all labelings but one", bound=True)),
    (
        Claim(
            "fewer-than-root",
            "Fewer than sqrt(N) parameters give not every labeling of N inputs, at constant one",
            AtMost("labelings_below_root", "all_but_one"),
        ),
    ),
    quick=(1, 2, 3),
    seconds=30,
    quick_seconds=8,
    repeats=1,
    note="200,000 random networks of up to three hidden layers of two neurons: labelings found are some of those that "
    "exist. The theorem is an order and names no constant.",
)

NO_MORE = Claim("no-more", "It takes no more than Theorem 4.1's", AtMost("parameters", "parameters_of_Theorem_4.1"))
PLAIN = Line("parameters_of_Theorem_4.1", "Theorem 4.1 on the same sequences", bound=True)

THEOREM_D_1 = Statement(
    "kajitsuka2025.theoremD_1-checked",
    "Deep sets: parameters with a plain sum in place of attention, against sequences N",
    "Remark 4.1 and Theorem D.1",
    "sequences N",
    "parameters",
    tuple(
        StatementCell(f"n = {context}", count, Memorizer("random", count, context, "sum"))
        for context in (6, 8)
        for count in FEWER
    ),
    (Line("parameters", "with a sum"), PLAIN, Line("parameters_by_counting", "sqrt(N)", bound=True)),
    (
        RECALLED,
        Claim(
            "square-root", "Parameters grow as sqrt(N), logarithms aside", number_grows_as("parameters", *SQUARE_ROOT)
        ),
        NO_MORE,
    ),
    quick=(64, 256, 1024),
    seconds=3,
    quick_seconds=1,
    log_x=True,
    note="Where n is no power of two attention needs a snap block that a sum does not.",
)

REMARK_E_1 = Statement(
    "kajitsuka2025.remarkE_1-checked",
    "Parameters with an embedding table in place of F1, against sequences N",
    "Remark 4.2 and appendix E",
    "sequences N",
    "parameters",
    (
        *(StatementCell(RANDOM, count, Memorizer("random", count, 8, table=True)) for count in FEWER),
        *(StatementCell(DEFINITIONS, count, Memorizer("definitions", count, 8, table=True)) for count in FEWER),
    ),
    (
        Line("parameters", "table and F2"),
        Line("second_network", "F2"),
        PLAIN,
        Line("parameters_by_counting", "sqrt(N)", bound=True),
    ),
    (
        RECALLED,
        Claim(
            "square-root",
            "Parameters besides the table grow as sqrt(N)",
            number_grows_as("second_network", *SQUARE_ROOT),
        ),
        NO_MORE,
    ),
    quick=(64, 256, 1024),
    seconds=4,
    quick_seconds=1,
    log_x=True,
    note="Of the table the codes that are not zero count.",
)

STATEMENTS = (THEOREM_4_1, LENGTH, THEOREM_4_2, SMALL_NETWORKS, THEOREM_4_3, THEOREM_F_1, THEOREM_D_1, REMARK_E_1)
