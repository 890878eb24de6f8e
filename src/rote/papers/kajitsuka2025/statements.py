"""What is stated about memorizers: sizes that are enough, sizes that are needed, and the remarks on variants.

Parameters are weights and biases that are not zero; everything is evaluated in exact arithmetic.
"""

from __future__ import annotations

from rote.papers.claims import Claim
from rote.papers.kinds.statement_settings import Memorizer, PositionMemorizer
from rote.papers.kinds.statements import AtMost, Line, Statement, StatementCell, number_grows_as

COUNTS, FEWER = (64, 128, 256, 512, 1024, 2048, 4096), (64, 256, 1024, 2048)
RANDOM, DEFINITIONS = "random tokens, n = 8", "WordNet definitions, n = 8"
RECALLED = Claim("recalled", "Every label is recalled", AtMost("sequences", "recalled"))
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
        RECALLED,
        Claim("width", "Its width is at most 14", AtMost("width", 14.0)),
        Claim("depth", "Its depth grows as sqrt(N), logarithms aside", number_grows_as("depth", *SQUARE_ROOT)),
        Claim("parameters", "So do its parameters", number_grows_as("parameters", *SQUARE_ROOT)),
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
        Claim("length", "The length hardly matters to them: no power of it", number_grows_as("parameters", -0.1, 0.1)),
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
            "lower-bound", "It takes no fewer than sqrt(N) parameters", AtMost("parameters_by_counting", "parameters")
        ),
        Claim("counting", "It takes no fewer bits than the labels have", AtMost("label_bits", "bits")),
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
        Claim("recalled", "The label at every position is recalled", AtMost("positions", "recalled")),
        Claim(
            "parameters", "Parameters grow as sqrt(nN), logarithms aside", number_grows_as("parameters", *SQUARE_ROOT)
        ),
        Claim(
            "lower-bound",
            "It takes no fewer than sqrt(nN / log nN)",
            AtMost("parameters_by_counting", "parameters"),
        ),
        Claim("counting", "It takes no fewer bits than the labels have", AtMost("label_bits", "bits")),
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
        Claim("counting", "It takes no fewer than the labels' bits over B", AtMost("parameters_by_bits", "parameters")),
        Claim("linear", "At given B parameters grow at most as N", number_grows_as("parameters", 0.3, 1.05)),
    ),
    quick=(512, 1024, 2048),
    seconds=24,
    quick_seconds=3,
    repeats=1,
    log_x=True,
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

STATEMENTS = (THEOREM_4_1, LENGTH, THEOREM_4_2, THEOREM_4_3, THEOREM_F_1, THEOREM_D_1, REMARK_E_1)
