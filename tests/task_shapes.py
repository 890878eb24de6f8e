"""Shapes of tasks that sizes and plans are tested on."""

from hypothesis import strategies as st

from rote.tasks.shape import TaskShape


@st.composite
def shapes(draw) -> TaskShape:
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


AIRPORTS = TaskShape(associations=7884, vocab=480, context=3, key_tokens=26, last_tokens=26, answers=450, bits=50_000.0)
