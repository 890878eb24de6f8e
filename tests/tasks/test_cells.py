"""Values of Python as keys: a model is asked with whatever its table's key column held."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import rote
from rote.errors import InputError
from rote.models.asking import written
from rote.tasks.cells import cell_text, cell_texts

MORNING = datetime(2024, 1, 1, 5, 30)
COLUMNS = {
    "integers": [3, 14, 159],
    "floats": [0.5, 1.0, 250.0],
    "truth values": [True, False],
    "dates": [date(2024, 1, 1) + timedelta(days) for days in range(5)],
    "moments": [MORNING + timedelta(hours=hours) for hours in range(5)],
    "moments with microseconds": [MORNING + timedelta(microseconds=n) for n in (0, 1, 250)],
    "times": [time(8), time(8, 30), time(9, 0, 1)],
    "decimals": [Decimal("0.25"), Decimal("1.50"), Decimal("3.75")],
    "text": ["a b", "c"],
}


@pytest.mark.parametrize("keys", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("as_frame", [True, False], ids=["frame", "mapping"])
def test_a_model_takes_the_values_of_its_key_column(keys, as_frame):
    answers = [f"answer {number}" for number in range(len(keys))]
    source = pl.DataFrame({"key": keys, "answer": answers}) if as_frame else dict(zip(keys, answers, strict=True))
    model = rote.build(rote.facts(source, keys="words")).model
    assert [model.ask(key).answer for key in keys] == answers


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("7", 7.0),
        ("7.0", 7),
        ("7", np.int64(7)),
        ("7.0", np.float32(7)),
        ("TRUE", True),
        ("True", np.bool_(True)),
        ("2024-05-01", datetime(2024, 5, 1)),
        ("2024-05-01", np.datetime64("2024-05-01")),
        ("2024-05-01 00:00:00", date(2024, 5, 1)),
        ("2024-05-01T09:30:00", datetime(2024, 5, 1, 9, 30)),
        ("2024-05-01 09:30:00", np.datetime64("2024-05-01T09:30")),
        ("09:30", time(9, 30)),
    ],
)
def test_a_value_is_found_as_tables_write_it(stored, asked):
    model = rote.build({stored: "this", "other": "that"}, "rote.memory_layer").model
    assert model.ask(asked).answer == "this"
    assert stored in cell_texts(asked)


def test_the_plainest_form_is_preferred():
    model = rote.build({"7": "whole", "7.0": "decimal"}, "rote.memory_layer").model
    assert (model.ask(7).answer, model.ask(7.0).answer) == ("whole", "decimal")
    assert model.ask(8).key == ("8",)


@pytest.mark.parametrize("value", [None, [7], {"a": 1}, b"a", np.datetime64("NaT")])
def test_what_no_cell_holds_is_no_question(value):
    assert cell_text(value) is None
    with pytest.raises(InputError, match="words, numbers, dates or times"):
        written([value])


def test_pandas_and_polars_write_the_same_cells():
    pandas = pytest.importorskip("pandas")
    columns = {"on": [True, False], "at": [MORNING, MORNING + timedelta(days=1)], "answer": ["x", "y"]}
    ours = rote.facts(pl.DataFrame(columns))
    assert rote.facts(pandas.DataFrame(columns)).vocabulary.tokens == ours.vocabulary.tokens


def test_nanoseconds_are_kept():
    keys = pl.Series("key", [1, 2], dtype=pl.Int64).cast(pl.Datetime("ns"))
    assert rote.facts(pl.DataFrame({"key": keys, "answer": ["x", "y"]})).facts == 2


def test_a_column_that_has_no_text_is_one_message():
    frame = pl.DataFrame({"key": [timedelta(1)], "answer": ["x"]})
    with pytest.raises(InputError, match=r"column 'key' holds Duration.*drop or convert it"):
        rote.facts(frame)


def test_changes_take_the_same_values():
    facts = {(1, date(2024, 1, day)): answer for day, answer in ((1, "x"), (2, "y"), (3, "x"))}
    built = rote.build(facts)
    assert rote.edit(built, {(1, date(2024, 1, 2)): "z"}, facts).model.ask(1, date(2024, 1, 2)).answer == "z"
