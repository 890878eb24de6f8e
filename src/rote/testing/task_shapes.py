"""Shapes of tasks that results, sizes and plans are tested on."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from rote.tasks.shape import TaskShape


@st.composite
def shapes(draw: st.DrawFn) -> TaskShape:
    """Tasks whose tokens may occur in some positions only."""
    key_tokens = draw(st.integers(1, 60))
    last_tokens = draw(st.integers(1, key_tokens))
    context = draw(st.integers(2, 5))
    associations = draw(st.integers(1, min(5000, last_tokens * key_tokens ** (context - 1))))
    answers = draw(st.integers(1, min(associations, 60)))
    return TaskShape(
        associations=associations,
        vocab=draw(st.integers(key_tokens, key_tokens + answers)),
        context=context,
        key_tokens=key_tokens,
        last_tokens=last_tokens,
        answers=answers,
        bits=associations * 1.5,
    )


@st.composite
def full_shapes(draw: st.DrawFn) -> TaskShape:
    """Tasks in which every token occurs in every position and as an answer, as a bound assumes."""
    vocab, context = draw(st.integers(2, 40)), draw(st.integers(2, 5))
    associations = draw(st.integers(vocab, min(5000, vocab**context)))
    return TaskShape(
        associations=associations,
        vocab=vocab,
        context=context,
        key_tokens=vocab,
        last_tokens=vocab,
        answers=vocab,
        bits=associations * math.log2(vocab),
    )


AIRPORTS = TaskShape(associations=7884, vocab=480, context=3, key_tokens=26, last_tokens=26, answers=450, bits=50_000.0)
