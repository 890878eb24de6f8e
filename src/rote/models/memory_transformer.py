"""A Transformer with a memory layer behind a gate: one of G groups of memory slots answers, all others stay idle.

    x = sum_s table[s, t_s]                     uniform attention over embeddings, its output times S
    u = x + sum_n w_n relu(1 - relu(b_n - x))   an MLP of two ReLU layers, its neurons read one coordinate each
    g = argmax_j a_j u_0 + c_j                  gate: a mixture of experts with top-1 routing
    q = Q_g u                                   one number per head
    s_h = argmin_j |q_h - k_j|                  each head attends to the memory slot with the nearest key
    v = sum_h V[g, h, s_h]
    y = v + sum_n w'_n relu(1 - relu(b'_n - v)) a second MLP of the same kind
    logits = W_U y + b_U

Memory layers with keys in two parts are those of Lample et al. 2019 ("Large Memory Layers with Product Keys"): the
slot of a head is the pair (g, s_h). Notation: `vocab` is N, `context` S, `dim` the length of x.
"""

from __future__ import annotations

from typing import ClassVar

from rote.models.deep_relu import refuse_short_words
from rote.models.spec import Count, CountOrZero, Spec


class MemoryTransformer(Spec, frozen=True):
    """`groups` times `heads` times `slots` memory values of `digits` numbers, of which a question reads `heads`.

    Parameters: P K dim + 2 dim n + G (2 + H dim + H M D) + M + 2 D n' + N (D + 1), with P = S positions (1 where
    positions do not enter), K = `key_tokens`, n and n' neurons per coordinate, G groups, H heads, M slots, D digits.

    It computes with whole numbers and is right only where each is exact: `word_bits` bits are needed.

    >>> import rote
    >>> sizes = {"vocab": 66, "context": 8, "key_tokens": 26, "dim": 5, "neurons": 7, "answer_neurons": 2}
    >>> spec = rote.MemoryTransformer(groups=62, heads=3, slots=6_700, digits=1, word_bits=24, **sizes)
    >>> spec.parameters(), spec.values
    (1255200, 1246200)
    """

    architecture: ClassVar[str] = "memory-transformer"

    vocab: Count
    key_tokens: Count
    """Tokens that keys are made of, K: ids below it."""
    dim: Count
    groups: Count
    heads: Count
    slots: Count
    digits: Count
    neurons: CountOrZero
    """Neurons per coordinate and layer of the first MLP, n."""
    answer_neurons: CountOrZero
    """Neurons per digit and layer of the second MLP, n'."""
    ordered: bool = True
    """Whether a token's embedding depends on its position."""
    word_bits: Count
    """Bits that every sum fits in, on the inputs that the model was made for."""

    @property
    def values(self) -> int:
        """Numbers in the memory: all parameters that grow with the facts."""
        return self.groups * self.heads * self.slots * self.digits

    def refusals(self) -> list[str]:
        if self.key_tokens > self.vocab:
            return [f"`key_tokens` {self.key_tokens} exceeds `vocab` {self.vocab}"]
        return []

    def refuse_dtype(self, dtype: str) -> list[str]:
        return refuse_short_words(dtype, self.word_bits)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "table": (self.context if self.ordered else 1, self.key_tokens, self.dim),
            "fold.bias": (self.dim, self.neurons),
            "fold.output": (self.dim, self.neurons),
            "gate.weight": (self.groups,),
            "gate.bias": (self.groups,),
            "query": (self.groups, self.heads, self.dim),
            "slots": (self.slots,),
            "values": (self.groups, self.heads, self.slots, self.digits),
            "answer.bias": (self.digits, self.answer_neurons),
            "answer.output": (self.digits, self.answer_neurons),
            "unembed.weight": (self.vocab, self.digits),
            "unembed.bias": (self.vocab,),
        }

    def head_axes(self) -> dict[str, int]:
        return {"query": 1, "values": 1}

    def parameters(self) -> int:
        positions = self.context if self.ordered else 1
        mlps = 2 * self.dim * self.neurons + 2 * self.digits * self.answer_neurons
        gate = self.groups * (2 + self.heads * self.dim)
        unembed = self.vocab * (self.digits + 1)
        return positions * self.key_tokens * self.dim + mlps + gate + self.slots + self.values + unembed

    def floats_per_input(self) -> int:
        neurons = self.dim * self.neurons + self.digits * self.answer_neurons
        read = self.heads * (self.dim + self.slots + self.digits)
        return self.context * (self.dim + 1) + 2 * neurons + self.groups + read + 2 * self.vocab
