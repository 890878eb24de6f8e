"""Whatever a file holds, reading it gives the facts it states or a `RoteError`, never anything else."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import polars
from hypothesis import example, given
from hypothesis import strategies as st

from rote.errors import RoteError
from rote.tasks import PAD, SEPARATOR, AssociationTask, DistributionTask
from rote.tasks.facts import facts

cells = st.one_of(
    st.sampled_from(["a", "b", "c", "ab", "é", "1", "-1", "nan", "0.5", "x,y", 'say "hi"', "two\nlines", "<pad>", ""]),
    st.text(max_size=4),
)
names = st.lists(st.sampled_from(["a", "b", "c", "answer", "weight", ""]), min_size=1, max_size=4)
readings = st.fixed_dictionaries(
    {},
    optional={
        "keys": st.sampled_from(["words", "letters"]),
        "answer": st.sampled_from(["a", "answer", "nothing"]),
        "key": st.sampled_from(["b", ("a", "b"), ()]),
        "weight": st.just("c"),
        "context": st.integers(-1, 12),
        "contradictions": st.just("keep"),
    },
)


@st.composite
def tables(draw):
    header = draw(names)
    width = st.just(len(header)) if draw(st.integers(0, 9)) else st.integers(0, 5)
    rows = draw(st.lists(width.flatmap(lambda size: st.lists(cells, min_size=size, max_size=size)), max_size=8))
    return header, rows


def attempt(source, **reading):
    """The task, or the message that refuses it; any other error goes on its way."""
    try:
        return facts(source, **reading), None
    except RoteError as error:
        message = str(error)
    assert message
    return None, message


def as_csv(header: list[str], rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode("utf-8", "surrogatepass")


def key_of(task, row: int, letters: bool) -> tuple[str, ...]:
    """Key cells, put together again from their tokens."""
    tokens = task[row].key
    if not letters:
        return tokens
    while tokens and tokens[0] == PAD:
        tokens = tokens[1:]
    return tuple("".join("\0" if token == SEPARATOR else token for token in tokens).split("\0"))


def stated(header: list[str], rows: list[list[str]], task) -> tuple[list[tuple], list[float]]:
    """(key, answer) of every row, and its weight, by the documented custom and nothing of the reader's code."""
    reading = task.origin.reading
    asked = [*(reading.key or ()), reading.answer]
    weight = reading.weight or ("weight" if "weight" in header and "weight" not in asked else None)
    free = [name for name in header if name != weight and name not in (reading.key or ())]
    answer = reading.answer or free[-1]
    key = reading.key or [name for name in free if name != answer]
    records = [dict(zip(header, row, strict=True)) for row in rows if row]
    pairs = [(tuple(record[name] for name in key), record[answer]) for record in records]
    return pairs, [float(record[weight]) if weight else 1.0 for record in records]


def agrees(header: list[str], rows: list[list[str]], task) -> None:
    letters = task.origin.reading.keys == "letters"
    pairs, weights = stated(header, rows, task)
    if isinstance(task, AssociationTask):
        found = Counter((key_of(task, row, letters), task[row].answer) for row in range(task.facts))
        kept = task.origin.reading.contradictions == "keep"
        assert found == (Counter(pairs) if kept else Counter(set(pairs)))
        assert kept or len({key for key, _ in pairs}) == task.facts
        return
    assert isinstance(task, DistributionTask)
    mass: Counter = Counter()
    for pair, weight in zip(pairs, weights, strict=True):
        mass[pair] += weight
    total = sum(mass.values())
    for row in range(task.facts):
        for answer, share in task[row].answers.items():
            expected = mass.pop((key_of(task, row, letters), answer)) / total
            assert abs(share * task.prior[row] - expected) < 1e-9
    assert not any(mass.values())


@given(tables(), readings)
def test_csv_files(tmp_path_factory, table, reading):
    header, rows = table
    path = tmp_path_factory.getbasetemp() / "random.csv"
    path.write_bytes(as_csv(header, rows))
    task, message = attempt(path, **reading)
    if message:
        return
    agrees(header, [row for row in rows if row], task)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("de"), st.sampled_from("xyz")), max_size=12), readings
)
@example([("a", "d", "x")], {"keys": "letters"})
def test_plain_tables_are_read_or_contradict_themselves(tmp_path_factory, rows, reading):
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    path.write_bytes(as_csv(["a", "b", "answer"], [list(row) for row in rows]))
    answers: dict[tuple, set] = {}
    for *key, answer in rows:
        answers.setdefault(tuple(key), set()).add(answer)
    torn = any(len(some) > 1 for some in answers.values())
    task, message = attempt(path, keys=reading.get("keys"))
    if message:
        assert ("contradictory" in message) if torn else not rows
        return
    assert rows
    assert not torn
    agrees(["a", "b", "answer"], [list(row) for row in rows], task)


@given(st.binary(max_size=60), st.sampled_from(["csv", "tsv", "jsonl", "parquet"]), readings)
@example(b"PAR1\x00\x00\x00\x00PAR1", "parquet", {})
@example(b'a,"', "csv", {})
def test_files_of_any_bytes(tmp_path_factory, content, suffix, reading):
    path = tmp_path_factory.getbasetemp() / f"bytes.{suffix}"
    path.write_bytes(content)
    attempt(path, **reading)


values = st.one_of(cells, st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers(), max_size=1))


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "weight"]), values, max_size=3), max_size=5), readings)
def test_json_lines(tmp_path_factory, rows, reading):
    path = tmp_path_factory.getbasetemp() / "random.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    task, message = attempt(path, **reading)
    if message:
        return
    assert 1 <= task.facts <= len(rows)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", ""]), st.integers(-2, 2) | st.none(), st.floats(), st.booleans()),
        max_size=5,
    ),
    readings,
)
def test_frames(rows, reading):
    schema = {"a": polars.String, "b": polars.Int64, "weight": polars.Float64, "answer": polars.Boolean}
    task, message = attempt(polars.DataFrame(rows, schema=schema, orient="row"), **reading)
    if message:
        return
    assert 1 <= task.facts <= len(rows)


@given(
    st.text(max_size=30) | st.from_regex(r"(random|airports):[a-z]{1,8}=[-0-9a-z.]{1,4}(,context=2)?", fullmatch=True)
)
def test_sources_of_any_name(source):
    attempt(source)
