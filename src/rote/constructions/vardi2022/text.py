"""Exact networks on disk: sparse integers in text, one JSON line per layer, with a checksum.

Line 1: format, inputs, number of layers. Then one line per layer: [[name, bias, source, factor, source, factor, ...],
...] with numbers in hexadecimal (decimal conversion of long integers takes quadratic time). Last line: SHA-256 of all
before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from rote.constructions.vardi2022.network import Layer, Network, Neuron
from rote.errors import InputError

FORMAT = "rote sparse integer network 1"


def save(network: Network, path: str | Path) -> Path:
    """Write a network to a file."""
    path = Path(path)
    body = "".join(f"{line}\n" for line in _lines(network))
    digest = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(body + json.dumps({"sha256": digest}) + "\n", encoding="utf-8")
    return path


def load(path: str | Path) -> Network:
    """Read a network that `save` wrote; a changed or truncated file is rejected."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    body, _, last = text.rstrip("\n").rpartition("\n")
    body += "\n"
    try:
        stated = json.loads(last)["sha256"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: does not end in a checksum; it is cut short, or not a network rote wrote") from None
    if hashlib.sha256(body.encode()).hexdigest() != stated:
        raise InputError(f"{path}: its checksum does not fit; the file was changed after it was written")
    head, *lines = body.splitlines()
    stated_head = json.loads(head)
    if not isinstance(stated_head, dict) or stated_head.get("format") != FORMAT:
        raise InputError(f"{path}: format is not {FORMAT!r}; written by another version of rote")
    return Network(tuple(stated_head["inputs"]), tuple(_layer(json.loads(line)) for line in lines))


def _lines(network: Network) -> Iterator[str]:
    yield json.dumps({"format": FORMAT, "inputs": list(network.inputs), "layers": network.depth})
    for layer in network.layers:
        neurons = [
            [
                neuron.name,
                hex(neuron.bias),
                *(part for source, factor in neuron.terms for part in (source, hex(factor))),
            ]
            for neuron in layer
        ]
        yield json.dumps(neurons, separators=(",", ":"))


def _layer(neurons: list[list]) -> Layer:
    return tuple(
        Neuron(
            name,
            tuple((source, int(factor, 16)) for source, factor in zip(rest[::2], rest[1::2], strict=True)),
            int(bias, 16),
        )
        for name, bias, *rest in neurons
    )
