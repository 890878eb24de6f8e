"""The layer of `rote.selector` for keys (relation, subject)."""

from __future__ import annotations

import numpy as np

from rote.constructions.rote.selector.layer import SATURATING, Heads, Layer, Numbers, own_numbers
from rote.constructions.rote.selector.relations import Lines, Relations


def subject_last(relations: Relations, lines: Lines, numbers: Numbers, digits: int, vocab: int) -> Layer:
    """Keys (relation, subject): the subject asks.

    A relation's token has coordinate (0, 0) at -1, so that the subject's own number there is always larger: queries are
    positive, and a head may always attend to the relation or always to the subject. Head j compares coordinate (j, 0)
    of the two: the relation's is above all numbers of line j if it reads that line, else below.
    """
    count, dim = len(lines), max(len(lines) * digits, digits + 1)
    tokens = np.zeros((vocab, dim), dtype=np.int64)
    relation_tokens = relations.keys[:, 0]
    shifted = len(lines[0]) > 1
    shift = np.zeros(dim, dtype=np.int64)
    if shifted:
        shift[1] = 1
    top = 0  # the largest point so far
    subjects = np.zeros((len(relations.subjects), dim), dtype=np.int64)
    for j, line in enumerate(lines):
        if len(line) == 1:
            continue
        places = relations.places_on(line) + 1
        subjects[:, j] = places
        size = int(places.max())
        if j:
            shift[j] = 1
        for number, relation in enumerate(line):
            if j == 0:
                # With one line nothing compares coordinate 1; else it must stay below all numbers of line 1, and two
                # heads add it.
                code = number * (size + 1) if count == 1 else -number * ((size + 2) // 2)
                tokens[relation_tokens[relation], 1] = code
                top = max(top, size + count + max(code, 0))
            else:
                code = max(size + 1, top + 2 - count + 1)
                tokens[relation_tokens[relation], j] = code
                top = code + count - 2 + size
    # Line 1, if it is one relation's, may have to leave room for the offsets of line 0.
    low = max(top + 1, count + (numbers.size if shifted else 0))
    for j, line in enumerate(lines):
        if len(line) != 1:
            continue
        relation = line[0]
        if j == 0:
            subjects[:, :digits] = own_numbers(relations, relation, numbers, digits, low - (count - 1))
            continue
        begin = j * digits
        offset = count - 2
        if shift[begin]:
            offset += low - (count - 2) - 1
            tokens[relation_tokens[relation], begin] = low - (count - 2) - 1
        else:
            tokens[relation_tokens[relation], begin] = low + numbers.size
        subjects[:, begin : begin + digits] = own_numbers(relations, relation, numbers, digits, low - offset)
    tokens[relations.subjects] += subjects
    heads = Heads(dim, digits)
    unit = np.eye(dim, dtype=np.int64)
    for j in range(1, count):
        value = unit[j * digits : (j + 1) * digits] - unit[:digits]
        heads.add(SATURATING * unit[0], -unit[j * digits], value, unit[:digits].T)
    if count > 1:
        heads.add(SATURATING * unit[0], unit[0], unit[digits : digits + 1], -unit[:, digits : digits + 1])
    heads.add(SATURATING * unit[0], -unit[0], -unit[:1], unit[:, digits : digits + 1])
    if shifted:
        heads.add(SATURATING * unit[0], -unit[0], shift[None], unit[:, :1])
    positions = np.stack([-unit[0], 0 * unit[0]])
    return Layer(tokens, positions, *heads.tensors(), constant=digits)
