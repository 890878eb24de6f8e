"""Tables as people have them: product codes, words in several scripts, messy cells, three rows and many.

Each is a file's name, its bytes, and a few questions (the words that one would type) with the answers they must get.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from typing import NamedTuple

from workbooks import parts_of, rows_of, zipped

Question = tuple[tuple[str, ...], str]


class OwnTable(NamedTuple):
    file: str
    content: bytes
    questions: list[Question]
    facts: int


KINDS = {"A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "9": "0123456789"}

TABLES: dict[str, Callable[[], OwnTable]] = {}


def table(make: Callable[[], OwnTable]) -> Callable[[], OwnTable]:
    TABLES[make.__name__] = make
    return make


def delimited(
    header: list[str] | None, rows: list[tuple[str, ...]], file: str = "table.csv", delimiter: str = ","
) -> OwnTable:
    """A file of rows whose last cell is the answer; the questions are the first, the middle and the last row."""
    lines = [delimiter.join(cells) for cells in ([tuple(header)] if header else []) + rows]
    asked = [rows[0], rows[len(rows) // 2], rows[-1]]
    return OwnTable(file, ("\n".join(lines) + "\n").encode(), [(row[:-1], row[-1]) for row in asked], len(rows))


def codes(count: int, seed: int, pattern: str) -> list[str]:
    """Distinct codes: A is a letter, 9 a digit, anything else itself."""
    rng, seen = random.Random(seed), {}
    while len(seen) < count:
        drawn = [
            rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            if sign == "A"
            else rng.choice("0123456789")
            if sign == "9"
            else sign
            for sign in pattern
        ]
        seen["".join(drawn)] = None
    return list(seen)


@table
def product_codes() -> OwnTable:
    rng = random.Random(0)
    categories = ["Books", "Toys", "Garden", "Grocery", "Clothing", "Sports", "Beauty", "Music", "Health", "Office"]
    return delimited(
        ["sku", "category"], [(code, rng.choice(categories)) for code in codes(5001, 1, "AA-99999")], "products.csv"
    )


@table
def three_rows() -> OwnTable:
    return delimited(["fruit", "colour"], [("apple", "red"), ("banana", "yellow"), ("plum", "blue")])


@table
def one_row() -> OwnTable:
    return delimited(["key", "answer"], [("only", "this")])


@table
def one_answer_for_all() -> OwnTable:
    return delimited(["name", "answer"], [(f"name{i}", "yes") for i in range(200)])


@table
def every_answer_different() -> OwnTable:
    rng = random.Random(2)
    return delimited(["id", "hash"], [(str(i), f"{rng.getrandbits(48):012x}") for i in range(400)])


@table
def numbers_as_keys() -> OwnTable:
    return delimited(["n", "remainder"], [(str(n), str(n * n % 97)) for n in range(1, 1200)])


@table
def two_key_columns() -> OwnTable:
    people = [f"person {i}" for i in range(120)]
    relations = ["born in", "works for", "speaks"]
    rng = random.Random(3)
    places = ["Oslo", "Lima", "Accra", "Hanoi", "Quito"]
    rows = [(relation, person, rng.choice(places)) for relation in relations for person in people]
    return delimited(["relation", "person", "answer"], rows)


@table
def three_key_columns() -> OwnTable:
    rng = random.Random(4)
    rows = [
        (size, colour, str(item), str(rng.randint(1, 40)))
        for size in "SML"
        for colour in ("red", "blue", "green")
        for item in range(60)
    ]
    return delimited(["size", "colour", "item", "price"], rows)


@table
def greek_and_cyrillic() -> OwnTable:
    rows = [
        ("νερό", "water"),
        ("φωτιά", "fire"),
        ("вода", "water"),
        ("огонь", "fire"),
        ("земля", "earth"),
        ("γη", "earth"),
    ]
    return delimited(["word", "meaning"], rows)


@table
def chinese_and_arabic() -> OwnTable:
    rows = [
        ("水", "water"),
        ("火", "fire"),
        ("木", "wood"),
        ("金", "metal"),
        ("土", "earth"),
        ("ماء", "water"),
        ("نار", "fire"),
    ]
    return delimited(["word", "meaning"], rows)


@table
def emoji() -> OwnTable:
    return delimited(
        ["sign", "name"], [("🍎", "apple"), ("🍌", "banana"), ("🇫🇷", "France"), ("👩‍🔬", "scientist"), ("é", "e acute")]
    )


@table
def headerless() -> OwnTable:
    rng = random.Random(5)
    return delimited(None, [(code, str(rng.randint(1, 9))) for code in codes(300, 6, "A999")])


@table
def spaces_around_cells() -> OwnTable:
    rows = [(f"  key{i}", f"answer{i % 5}  ") for i in range(40)]
    plain = delimited(["key", "answer"], rows)
    return plain._replace(questions=[(("key0",), "answer0"), (("key39",), "answer4")])


@table
def semicolons() -> OwnTable:
    return delimited(["town", "river"], [(f"town {i}", f"river {i % 7}") for i in range(60)], "table.csv", ";")


@table
def tabs() -> OwnTable:
    return delimited(["gene", "chromosome"], [(f"GEN{i}", str(i % 23 + 1)) for i in range(400)], "genes.tsv", "\t")


@table
def json_lines() -> OwnTable:
    rows = [(f"user{i}", ["free", "pro", "team"][i % 3]) for i in range(150)]
    lines = "\n".join(f'{{"user": "{user}", "plan": "{plan}"}}' for user, plan in rows)
    return OwnTable("plans.jsonl", (lines + "\n").encode(), [((rows[7][0],), rows[7][1])], len(rows))


@table
def sentences_as_keys() -> OwnTable:
    rng = random.Random(7)
    words = ["the", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree", "red", "old"]
    sentences = list({" ".join(rng.choice(words) for _ in range(rng.randint(3, 7))): None for _ in range(250)})
    return delimited(["sentence", "label"], [(sentence, rng.choice(["yes", "no"])) for sentence in sentences])


@table
def questions() -> OwnTable:
    rng = random.Random(9)
    things = codes(100, 10, "AAA")
    asked = ["Who sells", "Where do I find", "What is the price of", "How heavy is"]
    answers = [f"ask the {colour} desk" for colour in ("red", "blue", "green")]
    rows = [(f"{start} item {thing} today?", rng.choice(answers)) for start in asked for thing in things]
    return delimited(["question", "answer"], rows)


@table
def latin_1() -> OwnTable:
    rows = [(f"Straße {i}", f"Fluß {i % 7}") for i in range(60)]
    plain = delimited(["Straße", "Fluß"], rows, "strassen.csv", ";")
    return plain._replace(content=plain.content.decode().encode("latin-1"))


@table
def utf_16() -> OwnTable:
    plain = delimited(["город", "река"], [(f"город {i}", f"река {i % 7}") for i in range(60)], "goroda.txt", "\t")
    return plain._replace(content=plain.content.decode().encode("utf-16"))


@table
def gzipped() -> OwnTable:
    plain = delimited(["k", "v"], [(f"k{i}", f"v{i % 9}") for i in range(90)], "table.csv.gz")
    return plain._replace(content=gzip.compress(plain.content))


@table
def workbook() -> OwnTable:
    rows = [(f"part {i}", f"bin {i % 9}") for i in range(90)]
    plain = delimited(["part", "bin"], rows, "parts.xlsx")
    return plain._replace(content=zipped(parts_of(("Parts", rows_of([("part", "bin"), *rows])))))


@table
def keys_of_very_different_lengths() -> OwnTable:
    rows = [("a" * (1 + i % 40) + str(i), f"answer{i % 11}") for i in range(300)]
    return delimited(["key", "answer"], rows)


@table
def quoted_cells() -> OwnTable:
    rows = [(f'"Smith, {chr(65 + i % 26)}{i}"', f'"say ""{i % 4}"""') for i in range(80)]
    plain = delimited(["name", "words"], rows)
    return plain._replace(questions=[(("Smith, A0",), 'say "0"'), (("Smith, B79",), 'say "3"')])


@table
def repeated_rows() -> OwnTable:
    rows = [(f"k{i % 50}", f"v{i % 50 % 6}") for i in range(150)]
    return delimited(["k", "v"], rows)._replace(facts=50)


@table
def answers_that_are_keys() -> OwnTable:
    return delimited(["child", "parent"], [(f"n{i}", f"n{i // 2}") for i in range(1, 600)])


@table
def words_longer_than_most() -> OwnTable:
    rng = random.Random(8)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = list({"".join(rng.choice(letters) for _ in range(rng.randint(2, 24))): None for _ in range(3000)})
    return delimited(["word", "class"], [(word, rng.choice(["noun", "verb", "name"])) for word in words])
