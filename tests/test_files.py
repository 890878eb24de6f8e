"""The gate for files from elsewhere: no link, pipe or bomb passes, and nothing is written through one."""

from __future__ import annotations

import json
import os
import socket
import threading
import time

import pytest

from rote.errors import InputError
from rote.files import DEEPEST, JSON, TABLE, WORDS, FileKind, held, new_file, parsed, read_json, read_regular, replacing


def test_a_folder_is_read_by_names_in_it(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.json").write_text('{"a": [1, 2.5, "é"]}')
    (tmp_path / "inner" / "b").write_bytes(b"bytes")
    with held(tmp_path) as folder:
        assert folder.names() == ["a.json", "inner"]
        assert folder.json("a.json") == {"a": [1, 2.5, "é"]}
        assert folder.is_folder("inner")
        assert not folder.has("nothing")
        with folder.folder("inner") as inner:
            assert inner.read("b", JSON) == b"bytes"
            inner.copy("b", tmp_path / "copy", JSON)
    assert (tmp_path / "copy").read_bytes() == b"bytes"


def test_a_link_to_a_file_or_a_folder_is_rejected_and_one_named_by_the_user_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("{}")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "b.json").symlink_to("a.json")
    with held(tmp_path / "link") as folder:
        assert folder.json("a.json") == {}
        with pytest.raises(InputError, match="is a link"):
            folder.json("b.json")
    with held(tmp_path) as folder, pytest.raises(InputError, match="is a link"), folder.folder("link"):
        pass
    with pytest.raises(InputError, match="is a link"), held(tmp_path / "link", below=tmp_path):
        pass
    with pytest.raises(InputError, match="leads out"), held(tmp_path / "real" / ".." / "link", below=tmp_path):
        pass
    with held(tmp_path / "real", below=tmp_path) as folder:
        assert folder.json("a.json") == {}


def test_a_folder_swapped_for_a_link_while_it_is_held_is_still_the_folder(tmp_path):
    (tmp_path / "shelf" / "model").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "shelf" / "model" / "a.json").write_text('"ours"')
    (tmp_path / "elsewhere" / "a.json").write_text('"secret"')
    with held(tmp_path / "shelf" / "model", below=tmp_path / "shelf") as folder:
        (tmp_path / "shelf" / "model").rename(tmp_path / "shelf" / "old")
        (tmp_path / "shelf" / "model").symlink_to(tmp_path / "elsewhere")
        assert folder.json("a.json") == "ours"


@pytest.mark.parametrize("what", ["pipe", "folder", "device", "socket"])
def test_what_is_no_file_is_rejected_at_once(tmp_path, what):
    path = tmp_path / "a.json"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "device":
        path = tmp_path / "zero"
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    with pytest.raises(InputError, match=r"is not a plain file|is a link"):
        read_regular(path, JSON)


def test_a_file_larger_than_its_kind_is_rejected_unread(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_regular(tmp_path / "a", FileKind("a test", 5)) == b"12345"
    with pytest.raises(InputError, match="5 bytes are too many for a test; rote reads at most 4"):
        read_regular(tmp_path / "a", FileKind("a test", 4))
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(6 * 2**30)
    with pytest.raises(InputError, match="too many for a table of facts"):
        read_regular(tmp_path / "sparse", TABLE)
    with pytest.raises(InputError, match="nearly all of them holes"):
        read_regular(tmp_path / "sparse", FileKind("a test", 2**40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested more than"),
        ("[" * 100_000, "nested too deeply|nested more"),
        ('{"a":' * 100_000, "nested too deeply|nested more"),
        ("1" * 21, "a number of 21 digits"),
        ("-" + "9" * 10_000, "a number of 10,001 digits"),
        ("[NaN]", "NaN is not a number"),
        ('{"a": 1, "b": 2, "a": 3}', "the name 'a' is there twice"),
        (r'"\ud800"', "half a surrogate pair"),
        (r'{"\udfff": 1}', "half a surrogate pair"),
        ("\ufeff{}", "BOM"),
        ("{", "Expecting"),
    ],
)
def test_json_beyond_the_limits_is_one_message(text, message):
    with pytest.raises(InputError, match=rf"here: cannot be read as JSON \(.*({message})"):
        parsed(text.encode(), "here")


def test_json_within_the_limits_is_read():
    deep = "[" * DEEPEST + "]" * DEEPEST
    parsed(deep.encode(), "here")
    assert parsed(b'["\\ud83d\\ude00", 9223372036854775807, -Infinity]', "here") == ["😀", 2**63 - 1, -float("inf")]
    with pytest.raises(InputError, match="more than"):
        parsed(b"[" + b"0," * 2**23 + b"0,0]", "here")


@pytest.mark.parametrize("more", ["[],", '{"a": 1},', "1,"])
def test_lists_and_values_of_json_are_counted_before_they_are_read(more):
    most = JSON.values if more == "1," else JSON.lists
    with pytest.raises(InputError, match=f"{JSON.values:,} values|at most {JSON.lists:,} are read"):
        parsed(b"[" + more.encode() * most + b"[]]", "x", JSON)
    assert len(parsed(b"[" + more.encode() * (most // 2) + b"[]]", "x", JSON)) == most // 2 + 1
    assert len(parsed(b"[" + more.encode() * (JSON.lists + 1) + b"[]]", "x", WORDS)) == JSON.lists + 2


def test_an_object_has_a_bounded_number_of_names():
    """Each that is unknown takes a reader 400 bytes to say so, and a million of them a second and a half."""
    text = json.dumps({f"x{number}": 1 for number in range(JSON.names + 1)}).encode()
    with pytest.raises(InputError, match="16,385 names, at most 16,384 are read"):
        parsed(text, "x", JSON)
    assert len(parsed(text, "x", WORDS)) == JSON.names + 1


def test_brackets_and_commas_in_text_are_no_lists_and_no_values():
    text = '[{"\\"' * (JSON.values // 4) + "," * (JSON.values + 1)
    assert parsed(json.dumps([text]).encode(), "x", JSON) == [text]


def test_text_without_an_end_takes_no_longer_than_other_text():
    start = time.process_time()
    with pytest.raises(InputError, match="cannot be read as JSON"):
        parsed(b'["' + b'[{\\"' * (JSON.most // 4), "x", JSON)
    assert time.process_time() < start + 3


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.json").write_bytes(b'"\xff"')
    with pytest.raises(InputError, match=r"a\.json: cannot be read as JSON"):
        read_json(tmp_path / "a.json")


def test_a_file_is_written_beside_what_was_planted_and_never_through_it(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    place = tmp_path / "run"
    place.mkdir()
    (place / "report.html").symlink_to(victim)
    (place / ".report.html.part").symlink_to(victim)
    with replacing(place / "report.html") as aside:
        assert aside.parent == place
        assert aside.name != ".report.html.part"
        aside.write_text("report")
    assert victim.read_text() == "precious"
    assert (place / "report.html").read_text() == "report"
    assert not (place / "report.html").is_symlink()
    os.mkfifo(place / "pipe.json")
    done = threading.Thread(target=lambda: _write(place / "pipe.json"), daemon=True)
    done.start()
    done.join(5)
    assert not done.is_alive()
    assert (place / "pipe.json").read_text() == "written"


def _write(path):
    with replacing(path) as aside:
        aside.write_text("written")


def test_a_failed_write_leaves_nothing(tmp_path):
    def break_off(path):
        with replacing(path) as aside:
            aside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError), new_file(tmp_path / "link"):
        pass
    assert not (tmp_path / "nowhere").exists()
