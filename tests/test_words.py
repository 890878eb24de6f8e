"""Words from elsewhere act on nothing: not on a terminal, a spreadsheet, a page or a shell."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time

import pytest

from rote.charts import Bar, BarChart
from rote.charts.drawing import write_chart
from rote.cli.output import print_pairs, print_table
from rote.errors import InputError
from rote.words import cell, command, guarded_streams, json_text, markdown, visible, visible_lines

HOSTILE = "a\x1b[2K\rverified\x9b31m\u202edeifirev\u2066\ud800\x07\x7f\u2028\U000e0041"


def test_what_is_not_seen_is_written_out():
    shown = visible(HOSTILE)
    assert shown.isprintable()
    assert shown.startswith("a\\x1b[2K\\rverified\\x9b31m\\u202edeifirev")
    assert visible("Åé文😀👩‍👩‍👧 a b") == "Åé文😀👩‍👩‍👧 a b"
    assert visible("a\tb\nc") == "a\\tb\\nc"
    assert visible_lines("a\tb\nc\x1b") == "a\tb\nc\\x1b"
    shown.encode("utf-8")


def test_json_means_the_same_and_hides_nothing():
    text = json_text(json.dumps({"word": HOSTILE}, ensure_ascii=False, indent=1))
    assert json.loads(text) == {"word": HOSTILE}
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("formula", ["=1+1", "+A1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(formula):
    assert cell(formula).startswith("'")


@pytest.mark.parametrize("plain", ["-1.5", "+3e-4", "-inf", "word", "", "a=b", -1.5, None])
def test_numbers_and_words_are_cells_as_they_are(plain):
    assert cell(plain) == plain


def test_markdown_begins_nothing():
    shown = markdown("<script>![x](http://evil) `code` | cell\nnext & more\x1b")
    assert shown == r"&lt;script>!\[x\](http://evil) \`code\` \| cell next &amp; more\\x1b"


def test_a_command_is_words():
    words = ["rote", "build", "m; touch FILE #", "$(id)", "a b", "plain"]
    assert shlex.split(command(*words)) == words


def test_streams_write_escapes_out_and_keep_bold(monkeypatch):
    out, errors = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", errors)
    with guarded_streams(), guarded_streams():
        print(f"\x1b[1mtitle\x1b[0m {HOSTILE}")
        print("\x1b[8mhidden", file=sys.stderr)
        sys.stdout.writelines(["\x1b[3J\n"])
    assert sys.stdout is out
    assert out.getvalue() == f"\x1b[1mtitle\x1b[0m {visible(HOSTILE)}\n\\x1b[3J\n"
    assert errors.getvalue() == "\\x1b[8mhidden\n"


BAR = """
import sys
from rote.progress import Bars
from rote.words import guarded_streams
with guarded_streams(), Bars().stage("outer", 2) as outer, Bars().stage("recalling", 2) as inner:
    inner.advance()
    outer.advance()
    print("a note\\x1b[2K", file=sys.stderr)
"""


def test_a_bar_is_drawn_and_what_is_printed_meanwhile_is_not():
    master, terminal = pty.openpty()
    surroundings = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen([sys.executable, "-c", BAR], stdout=terminal, stderr=terminal, env=surroundings) as process:
        os.close(terminal)
        shown = ""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error.
            while data := os.read(master, 4096):
                shown += data.decode()
    os.close(master)
    assert process.returncode == 0
    assert "recalling" in shown
    assert re.findall(r"\\(?:x1b\[\S+|r)", shown) == ["\\x1b[2K"]  # of the note; the bar's own act on the terminal


def test_errors_are_visible():
    assert str(InputError("no \x1b[1A such\nfile")) == "no \\x1b[1A such\nfile"


def test_long_words_widen_no_table(capsys):
    """Each line of a folded text is padded by the names before it: two long words are their product on the screen."""
    print_table("title", ["n" * 10**5, "last"], [["x" * 10**5, "word " * 20_000]])
    print_pairs("title", {"n" * 10**5: "word " * 20_000, "n" * 10**5 + "m": 1})
    shown = capsys.readouterr().out
    assert len(shown) < 10**6
    assert shown.count("…") >= 4


@pytest.mark.filterwarnings("ignore::UserWarning")  # glyphs that a font lacks, and no room for an axis
@pytest.mark.parametrize("word", ["x" * 10**5, "\u0301" * 10**5, "a\n" * 10**4])
def test_long_words_take_no_longer_to_draw(word, tmp_path):
    start = time.process_time()
    write_chart(BarChart(word, word, [Bar(word, 1.0, says=word)]), tmp_path / "chart.svg")
    assert time.process_time() < start + 5
