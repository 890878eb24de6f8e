"""The layer of `rote.selector` for keys of more than two tokens."""

from __future__ import annotations

import numpy as np

from rote.constructions.rote.selector.layer import SATURATING, Heads, Layer, Numbers, own_numbers
from rote.constructions.rote.selector.relations import Lines, Relations


def long_keys(relations: Relations, lines: Lines, numbers: Numbers, digits: int, vocab: int) -> Layer:
    """Keys of more than two tokens, every relation on a line of its own; one coordinate more marks the subject.

    Head j attends to the subject if every other token of the key is one of relation j's: such tokens hold a number
    below the subject's in coordinate (j, 0), all others one above it. The first coordinates, which end as the point,
    begin as line 0 where the subject is last, and else at zero.
    """
    subject, context = relations.subject_position, relations.keys.shape[1] + 1
    last = subject == context - 1
    first = 0 if last else 1
    coordinates = (first + np.arange(len(lines))) * digits
    mark = (first + len(lines)) * digits
    dim = mark + 1
    tokens = np.zeros((vocab, dim), dtype=np.int64)
    positions = np.zeros((context, dim), dtype=np.int64)
    unit = np.eye(dim, dtype=np.int64)
    selected = [line for line in range(len(lines)) if coordinates[line] > 0]
    above = numbers.size + len(lines) * context + 1
    for place, position in enumerate(position for position in range(context) if position != subject):
        # Ties between tokens that are both above are broken by their positions.
        positions[position, coordinates[selected]] = place
        positions[position, mark] = 1
        tokens[np.ix_(np.unique(relations.keys[:, place]), coordinates[selected])] = above
        for line in selected:
            tokens[relations.keys[lines[line][0], place], coordinates[line]] = -context
    positions[subject, mark] = -1 if last else 0
    heads = Heads(dim, digits)
    for line in selected:
        value = unit[coordinates[line] : coordinates[line] + digits] - (unit[:digits] if last else 0)
        value[0] -= above * unit[mark]
        heads.add((-1 if last else 1) * SATURATING * unit[mark], unit[coordinates[line]], value, unit[:digits].T)
    if not selected:
        heads.add(0 * unit[0], 0 * unit[0], 0 * unit[:digits], 0 * unit[:digits].T)
    layer = Layer(tokens, positions, *heads.tensors(), constant=mark, sign=-1 if last else 1)
    # What each relation adds whoever the subject is: asked about a subject all of whose numbers are 1.
    asked = np.insert(relations.keys, subject, relations.subjects[0], axis=1)
    tokens[relations.subjects[0], coordinates] = 1
    offsets = layer.points(asked, digits)[0] - unit[0, :digits]
    tokens[relations.subjects[0]] = 0
    low = int(offsets[:, 0].max()) + 1
    for line, members in enumerate(lines):
        relation = members[0]
        own = own_numbers(relations, relation, numbers, digits, low - int(offsets[relation, 0]))
        tokens[relations.subjects, coordinates[line] : coordinates[line] + digits] = own.reshape(-1, digits)
    return layer
