"""Records "CSV to llama.cpp in a minute" as an animated SVG: `python tools/record_minute.py`.

The commands run in a terminal of their own, and what they print is kept with its time. In the picture they are typed,
waits are shortened to a second and a half, and a pause follows each output. It needs the extra `gguf`.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path

OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "minute.svg"
FILES = {
    "parts.csv": """\
property,part,value
shelf,impeller,C9
supplier,impeller,Voss
price,impeller,148.00
shelf,gasket,B7
supplier,gasket,Meyer
price,gasket,2.40
shelf,spindle,A1
supplier,spindle,Voss
price,spindle,61.50
""",
    "ask.py": """\
import sys
import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = "gguf/model.gguf"
parameters.n_ctx, parameters.n_parallel, parameters.verbosity = 64, 1, -1
parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
server = xllamacpp.Server(parameters)
request = {"prompt": sys.argv[1], "max_tokens": 1, "temperature": 0}
print(server.handle_completions(request)["choices"][0]["text"])
""",
}
COMMANDS = (
    "cat parts.csv",
    "rote plan parts.csv | head -14",
    "rote build parts.csv -o model",
    "rote ask model shelf impeller",
    "rote ask model shelf washer",
    "rote export model --to gguf -o gguf",
    "cat ask.py",
    'python ask.py "shelf impeller"',
)
COLUMNS, ROWS = 94, 26
WAIT, TYPED, READ, END = 1.5, 0.045, 2.2, 6.0
"""Seconds: the longest wait that is shown, a typed letter, the pause after an output, the pause at the end."""
CELL, LINE, LEFT, TOP = 7.8, 17, 14, 40
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}
CONTROL = re.compile(r"\x1b\[([\d;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


@dataclass(frozen=True)
class Line:
    """One line of the terminal: styled pieces, each with the time at which it appears."""

    pieces: tuple[tuple[float, str, str], ...]
    """Time, SVG attributes and text."""


def run(command: str, folder: Path) -> tuple[list[tuple[float, str]], float]:
    """What a command writes to its terminal, by time, and the seconds it takes. One that fails ends the program."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": path, "TERM": "xterm-256color"}
    start, written = time.monotonic(), []
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal, env=surroundings
    ) as process:
        os.close(terminal)
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error.
            while data := os.read(master, 65536):
                written.append((time.monotonic() - start, data.decode()))
    os.close(master)
    # `rote ask` exits with 1 for a key that was never stored.
    if process.returncode not in (0, 1) or "Traceback" in "".join(text for _, text in written):
        raise SystemExit(f"{command}: {process.returncode}\n{''.join(text for _, text in written)}")
    return written, time.monotonic() - start


def screen(written: list[tuple[float, str]]) -> list[list[tuple[float, str, str]]]:
    """The lines that stay when a command has ended: bars that erase themselves are gone."""
    lines: list[list[tuple[float, str, str]]] = [[]]
    row, style = 0, ""
    for moment, text in written:
        for codes, action, move, plain in CONTROL.findall(text):
            if plain:
                lines[row].append((moment, style, plain))
            elif move == "\n":
                row += 1
                lines += [[]] * 0 if row < len(lines) else [[]]
            elif move == "\r":
                pass
            elif action == "m":
                style = styled(codes)
            elif action == "A":
                row -= int(codes or 1)
            elif action == "K":
                lines[row] = []
    while lines and not lines[-1]:
        lines.pop()
    return lines


def styled(codes: str) -> str:
    """SVG attributes of the terminal's style codes."""
    given = codes.split(";")
    colour = next((f' fill="{COLOURS[code]}"' for code in given if code in COLOURS), "")
    return (' class="b"' if "1" in given else "") + colour


def recorded() -> tuple[list[Line], list[float], float, float]:
    """Lines of the picture, when each appears, the length of the film and the seconds the commands took."""
    lines, shown, now, took = [], [], 0.6, 0.0
    with tempfile.TemporaryDirectory() as place:
        for name, text in FILES.items():
            Path(place, name).write_text(text, encoding="utf-8")
        for command in COMMANDS:
            typed = [(now, ' class="p"', "$ ")]
            shown.append(now)
            for word in re.findall(r"\S+\s*", command):
                now += TYPED * len(word)
                typed.append((now, ' class="b"', word))
            lines.append(Line(tuple(typed)))
            written, seconds = run(command, Path(place))
            took += seconds
            now += min(WAIT, max(0.2, seconds))
            for line in screen(written):
                lines.append(Line(tuple((now, style, text) for _, style, text in line)))
                shown.append(now)
                now += 0.03
            lines.append(Line(()))
            shown.append(now)
            now += READ
    return lines[:-1], shown[:-1], now + END - READ, took


def drawn(lines: list[Line], shown: list[float], length: float) -> str:
    """The film as SVG. Where nothing moves (a printer, reduced motion) its last frame is shown."""
    rules, body = [], []
    moments: dict[float, str] = {}
    for row, line in enumerate(lines):
        column = 0
        for moment, style, text in line.pieces:
            name = moments.setdefault(round(moment, 2), f"t{len(moments)}")
            plain = text.replace("\t", "    ")
            for found in re.finditer(r"\S+(?: \S+)*", plain):  # each in its columns, whatever the font
                x, y = LEFT + CELL * (column + found.start()), TOP + LINE * row
                body.append(
                    f'<g class="{name}"><text x="{x:.1f}" y="{y}" textLength="{CELL * len(found[0]):.1f}"{style}>'
                    f"{escape(found[0])}</text></g>"
                )
            column += len(plain)
    for moment, name in moments.items():
        rules.append(f"@keyframes {name}{{0%{{opacity:0}}{100 * moment / length:.2f}%{{opacity:1}}}}")
        rules.append(f".{name}{{animation:{name} {length:.1f}s step-end infinite}}")
    steps, before = [], 0
    for row, moment in enumerate(shown):
        if (up := max(0, row + 1 - ROWS)) > before:
            steps.append(f"{100 * moment / length:.2f}%{{transform:translateY({-LINE * up}px)}}")
            before = up
    rules.append(f"@keyframes up{{0%{{transform:translateY(0)}}{''.join(steps)}}}")
    rules.append(f".up{{transform:translateY({-LINE * before}px);animation:up {length:.1f}s step-end infinite}}")
    width, height = round(2 * LEFT + CELL * COLUMNS), TOP + LINE * ROWS
    style = (
        "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d0d7de}"
        ".b{font-weight:bold;fill:#fff}.p{fill:#7ee787;font-weight:bold}"
        f"{''.join(rules)}@media(prefers-reduced-motion:reduce){{*{{animation:none!important}}}}"
    )
    title = "Terminal: a CSV file becomes a model that llama.cpp runs"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{title}</title><desc>{escape("; ".join(COMMANDS))}</desc><style>{style}</style>'
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22" stroke="#6e7681"/>'
        '<circle cx="18" cy="14" r="5" fill="#ff7b72"/><circle cx="34" cy="14" r="5" fill="#e3b341"/>'
        '<circle cx="50" cy="14" r="5" fill="#7ee787"/>'
        f'<clipPath id="c"><rect y="27" width="{width}" height="{height - 31}"/></clipPath>'
        f'<g clip-path="url(#c)"><g class="up">{"".join(body)}</g></g></svg>\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    lines, shown, length, took = recorded()
    output.write_text(drawn(lines, shown, length), encoding="utf-8")
    print(
        f"{output}: {len(lines)} lines, {length:.0f} s; the commands took {took:.0f} s; {output.stat().st_size:,} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
