"""The layer of `rote.selector` for keys (subject, relation)."""

from __future__ import annotations

import numpy as np

from rote.constructions.rote.selector.layer import SATURATING, Heads, Layer, Numbers, own_numbers
from rote.constructions.rote.selector.relations import Lines, Relations


def subject_first(relations: Relations, lines: Lines, numbers: Numbers, digits: int, vocab: int) -> Layer:
    """Keys (subject, relation): the relation asks, and its own embedding is the offset and the constant.

    A relation's token holds its offset in coordinate 0 and 1 in the constant's, below all that subjects hold there, so
    that a head attends to the subject where its query is positive, else to the relation itself. Queries tell lines 0
    and 1 apart by the offset, and further lines by a coordinate of their own.
    """
    count, dim, one = len(lines), max(len(lines) * digits, digits + 1), digits
    tokens = np.zeros((vocab, dim), dtype=np.int64)
    relation_tokens = relations.keys[:, 0]
    tokens[relation_tokens, one] = 1
    subjects = np.zeros((len(relations.subjects), dim), dtype=np.int64)
    subjects[:, one] = 2
    offset = np.zeros(relations.count, dtype=np.int64)
    # Points: offset + x + (count > 1) on line 0, 2 offset + x on line 1, 2 offset + 1 + x on others.
    sizes = [int(relations.places_on(line).max()) + 1 if len(line) > 1 else numbers.size for line in lines]
    shared = len(lines[0]) > 1
    # Numbers around zero keep logits small.
    low = 0 if shared else -(numbers.size // 2)
    below = -((sizes[1] + 3) // 2) if count > 1 and len(lines[1]) > 1 else -1 - abs(low)
    for j, line in enumerate(lines):
        if len(line) == 1:
            continue
        subjects[:, j] = relations.places_on(line) + (2 if j == 1 else 0)
        for relation in line:
            if j == 1:
                offset[relation] = below
                below -= (sizes[j] + 2) // 2
            else:
                offset[relation] = low if j == 0 else (low + 1) // 2
                low = int(offset[relation]) * (1 if j == 0 else 2) + 1 + sizes[j] + 1
    for j, line in enumerate(lines):
        if len(line) != 1:
            continue
        relation = line[0]
        begin = j * digits
        if j == 1:
            offset[relation] = below
        steps = int(offset[relation]) * (1 if j == 0 else 2) + int(j > 1 or (j == 0 and count > 1))
        subjects[:, begin : begin + digits] = own_numbers(relations, relation, numbers, digits, low - steps)
    tokens[relation_tokens, 0] += offset
    for j, line in enumerate(lines):
        if j > 1:
            tokens[relation_tokens[list(line)], j * digits] = 1
    tokens[relations.subjects] += subjects
    heads = Heads(dim, digits)
    unit = np.eye(dim, dtype=np.int64)
    far = 2 * int(np.abs(offset).max()) + 3
    others = unit[[j * digits for j in range(2, count)]].sum(axis=0)
    for j in range(count):
        if count == 1:
            query = unit[one]
        elif j == 0:
            query = 2 * unit[0] + unit[one] - far * others
        elif j == 1:
            query = -2 * unit[0] - unit[one] - far * others
        else:
            query = 2 * unit[j * digits] - unit[one]
        heads.add(SATURATING * query, unit[one], unit[j * digits : (j + 1) * digits], unit[:digits].T)
    return Layer(tokens, np.zeros((2, dim), dtype=np.int64), *heads.tensors(), constant=one)
