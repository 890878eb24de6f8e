"""Next-token distributions of texts: counted as they stand."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import InputError
from rote.tasks.next_tokens import END, OTHER, START, next_tokens


def test_contexts_and_what_follows_are_counted():
    task = next_tokens(["ab", "ab", "ac"], 1, contexts=3)
    words = task.vocabulary.tokens
    assert words[:3] == (START, END, "a")
    rows = {
        words[context[0]]: dict(zip(words, row, strict=True))
        for context, row in zip(task.contexts, task.dense(), strict=True)
    }
    assert rows[START]["a"] == 1
    assert rows["a"]["b"] == pytest.approx(2 / 3)
    assert rows["b"][END] == 1
    shares = {words[context[0]]: share for context, share in zip(task.contexts, task.prior, strict=True)}
    assert shares["a"] == pytest.approx(3 / 8)
    assert shares["b"] == pytest.approx(2 / 8)


def test_rare_tokens_count_as_one():
    task = next_tokens([["a", "a", "b"], ["a", "c"]], 1, contexts=3, vocab=4)
    assert task.vocabulary.tokens == (START, END, "a", OTHER)
    assert np.allclose(task.dense().sum(1), 1)


def test_more_contexts_than_there_are_and_too_small_a_vocabulary_are_refused():
    with pytest.raises(InputError, match=r"`contexts=9`: in memory has 3"):
        next_tokens(["ab"], 1, contexts=9)
    with pytest.raises(InputError, match=r"`vocab=3`"):
        next_tokens(["ab"], 1, contexts=1, vocab=3)
