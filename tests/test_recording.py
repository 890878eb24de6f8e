"""The recording in README plays the commands of its script, and shows what stays of their output."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import record_minute

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = ElementTree.fromstring(Path(record_minute.OUTPUT).read_text(encoding="utf-8"))


def test_the_picture_is_of_these_commands():
    description = PICTURE.find(f"{SVG}desc")
    assert description is not None
    assert description.text == "; ".join(record_minute.COMMANDS), "run python tools/record_minute.py"


def test_it_ends_with_the_answer_of_llama_cpp():
    shown = ["".join(text.itertext()) for text in PICTURE.iter(f"{SVG}text")]
    assert "gguf: 9 of 9 facts recalled through gguf" in shown
    assert shown[-1] == "C9"
    assert not [text for text in shown if "\\x1b" in text]


def test_it_runs_nothing_and_loads_nothing():
    kinds = {element.tag.removeprefix(SVG) for element in PICTURE.iter()}
    assert kinds <= {"svg", "title", "desc", "style", "rect", "circle", "clipPath", "g", "text"}


def test_a_bar_that_erases_itself_leaves_nothing():
    bar = "\x1b[32m#\x1b[0m bar\r\x1b[2Kdone\r\n\x1b[1A\x1b[2K"
    lines = record_minute.screen([(0.1, "note\r\n"), (0.2, bar), (0.3, "\x1b[1mend\x1b[0m\r\n")])
    assert [[text for _, _, text in line] for line in lines] == [["note"], ["end"]]
    assert lines[1][0][1] == ' class="b"'
