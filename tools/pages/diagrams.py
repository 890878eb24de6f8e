"""Diagrams of the concept pages: how a model and each family of constructions work, as boxes and arrows.

The colour of a box says how its weights are found. A diagram is data, so that a test can tell when a file shows an
older one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rote.charts.style import BLUE, GREEN, GREY, ORANGE, figure, save

Found = Literal["data", "random", "solved", "exact"]
LOOKS: dict[Found, tuple[str, str]] = {
    "data": (GREY, "facts, or computed by the model"),
    "random": (ORANGE, "drawn at random"),
    "solved": (BLUE, "solved or fitted"),
    "exact": (GREEN, "written down exactly"),
}
STEP, DROP = 2.3, 1.35
"""Distance of two columns and of two rows, in units of the drawing."""


@dataclass(frozen=True)
class Box:
    """A step, at a column from the left and a row from the top."""

    text: str
    column: float
    row: float = 0.0
    found: Found = "data"


@dataclass(frozen=True)
class Diagram:
    """Boxes, arrows between them by their places in the list, and a sentence below."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]
    note: str


KEY = Box("key\nt1 ... tS", 0)
DIAGRAMS = {
    "concepts/model": Diagram(
        "One attention layer reads a key and scores every answer",
        (
            Box("key: S tokens\nout of N", 0, 0.5),
            Box("embeddings\ne + pos, d numbers\nper token", 1, 0.5),
            Box("H heads\nW_Q, W_K, W_V\nk numbers each", 2, 0),
            Box("output\nW_O", 3, 0),
            Box("residual stream\nthe last token, d numbers", 2.5, 1),
            Box("sum\nd numbers", 4, 0.5),
            Box("unembedding W_U\nN logits", 5, 0.5),
        ),
        ((0, 1), (1, 2), (2, 3), (1, 4), (3, 5), (4, 5), (5, 6)),
        "d(S + 2N + 4kH) parameters. The answer is the token with the strictly largest logit.",
    ),
    "concepts/random_attention": Diagram(
        "Theorem 1: random attention makes features, one linear solve stores the answers",
        (
            KEY,
            Box("embeddings", 1, 0, "random"),
            Box("H heads\nW_Q, W_K, W_V", 2, 0, "random"),
            Box("features\nHk + d numbers\nper key", 3, 0),
            Box("W_O", 4, 0, "solved"),
            Box("codes of the\nanswers, W_U", 5, 0, "exact"),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
        "T facts give T rows of features. T <= Hk + d independent rows have an exact solution W_O.",
    ),
    "concepts/readout": Diagram(
        "Readout: the same random features, a convex fit instead of equations",
        (
            KEY,
            Box("embeddings", 1, 0, "random"),
            Box("H heads\nW_Q, W_K, W_V", 2, 0, "random"),
            Box("features\nHk + d numbers\nper key", 3, 0),
            Box("W_O and W_U\ncross-entropy,\nL-BFGS", 4, 0, "solved"),
            Box("logits", 5, 0),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
        "An answer must only win. Inequalities are weaker than equations: several times Hk + d facts fit.",
    ),
    "concepts/gates": Diagram(
        "Fixed gates: sharp random attention, everything behind it is fitted",
        (
            KEY,
            Box("four gate\ndimensions", 1, 0, "random"),
            Box("sharp attention\nweights near\n0 or 1", 2, 0, "random"),
            Box("other dimensions\nof the tokens", 3.1, 0, "solved"),
            Box("W_V, W_O, W_U\nL-BFGS", 4.2, 0, "solved"),
            Box("logits", 5.1, 0),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
        "Attention is fixed, so no gradient passes through it. About 1.6 bits per parameter at full recall.",
    ),
    "concepts/selector": Diagram(
        "Selector: a subject's embedding holds its answers, a head reads the one that is asked",
        (
            Box("key\nrelation, subject", 0),
            Box("subject:\none number per\nrelation", 1, 0, "exact"),
            Box("saturated heads\nopen for one\nrelation each", 2, 0, "exact"),
            Box("number of\nthe answer", 3, 0),
            Box("one line per\nanswer, W_U:\nthe nearest wins", 4, 0, "exact"),
            Box("logits", 5, 0),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
        "Nothing is random and nothing is solved: whole numbers that float32 counts without error.",
    ),
    "concepts/linear_memory": Diagram(
        "Linear memories: random vectors, one matrix of associations",
        (
            Box("key i", 0.5),
            Box("input vector\ne_i", 1.5, 0, "random"),
            Box("memory W\nsum of u e^T, least\nsquares, or a fit", 2.75, 0, "solved"),
            Box("output vectors\nW_U", 4, 0, "random"),
            Box("logits", 5, 0),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4)),
        "A sum of outer products stores about d facts, a trained matrix about d^2 / (2 ln T).",
    ),
    "concepts/neurons": Diagram(
        "MLPs: random neurons, one linear solve (Madden, Bubeck)",
        (
            KEY,
            Box("attention", 1, 0, "random"),
            Box("first layer of\nthe MLP, m neurons", 2.25, 0, "random"),
            Box("second layer", 3.5, 0, "solved"),
            Box("W_U", 4.5, 0, "exact"),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4)),
        "Each neuron is one more feature of a key: about one fact per neuron.",
    ),
    "concepts/bit_extraction": Diagram(
        "Deep ReLU networks: answers packed as the bits of few long numbers (Kajitsuka and Sato)",
        (
            KEY,
            Box("code of the key\none whole number", 1, 0, "exact"),
            Box("find the block\nof sqrt(T) facts", 2, 0, "exact"),
            Box("its packed\nanswers\none long number", 3, 0, "exact"),
            Box("unpack bit\nby bit", 4, 0, "exact"),
            Box("answer", 5, 0),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
        "About sqrt(T) parameters, each with many bits: few parameters are not few bytes.",
    ),
    "concepts/memory_layer": Diagram(
        "Memory layer: a static function written as weights",
        (
            KEY,
            Box("hash functions\ngate and slots", 1.1, 0, "random"),
            Box("three slots\nof a table", 2.3, 0, "solved"),
            Box("sum of the slots:\nnumber of the answer", 3.5, 0),
            Box("W_U", 4.6, 0, "exact"),
        ),
        ((0, 1), (1, 2), (2, 3), (3, 4)),
        "Slots are solved so that each key's sum is its answer. About 1.25 whole numbers per fact.",
    ),
}


def digest(diagram: Diagram) -> str:
    """A fingerprint of what a diagram shows."""
    return hashlib.sha256(json.dumps(asdict(diagram)).encode()).hexdigest()


def write_diagram(diagram: Diagram, path: Path) -> Path:
    """Draw a diagram into a PNG that carries its digest."""
    rows = max(box.row for box in diagram.boxes)
    with figure(7.6, 1.5 + 0.7 * rows) as canvas:
        axes = canvas.add_subplot()
        axes.set_title(diagram.title)
        places = [(STEP * box.column, -DROP * box.row) for box in diagram.boxes]
        drawn = []
        for (x, y), box in zip(places, diagram.boxes, strict=True):
            colour = LOOKS[box.found][0]
            looks = {"boxstyle": "round,pad=0.5", "facecolor": _pale(colour), "edgecolor": colour, "linewidth": 1.3}
            drawn.append(
                axes.text(x, y, box.text, ha="center", va="center", fontsize=7.5, linespacing=1.25, bbox=looks)
            )
        for start, end in diagram.arrows:
            ends = {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch(), "shrinkA": 2}
            looks = {"arrowstyle": "-|>", "color": "#555555", "shrinkB": 3, "linewidth": 1.1}
            axes.annotate("", places[end], places[start], zorder=0, arrowprops={**ends, **looks})
        axes.set_xlim(-1.1, max(x for x, _ in places) + 1.2)
        axes.set_ylim(-DROP * rows - 1.25, 0.75)
        axes.text(-1.0, -DROP * rows - 1.15, diagram.note, fontsize=8, va="bottom")
        axes.set_axis_off()
        _legend(canvas, diagram)
        return save(canvas, path, {"Description": digest(diagram)})


def _pale(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return (0.85 + 0.15 * red, 0.85 + 0.15 * green, 0.85 + 0.15 * blue)


def _legend(canvas, diagram: Diagram) -> None:
    from matplotlib.patches import Patch

    used = [LOOKS[found] for found in LOOKS if any(box.found == found for box in diagram.boxes)]
    if len(used) > 1:
        handles = [Patch(facecolor=_pale(colour), edgecolor=colour, label=name) for colour, name in used]
        canvas.legend(handles=handles, fontsize=7.5, loc="outside lower left", ncols=len(handles))
