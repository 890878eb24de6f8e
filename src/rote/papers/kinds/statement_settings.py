"""What one cell of a checked statement builds or evaluates, as data: a kind of setting for each kind of statement.

Notation: `vocab` N, `context` S (or n), `dim` d, `head_dim` k, `heads` H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["random", "noisy table", "names", "definitions"]
"""`random`: softmax of normal logits. `noisy table`: a token for each context, and noise spread evenly over all.
`names`: letters in the names of countries and capitals, which ship with rote. `definitions`: words in WordNet's
definitions of nouns."""

Prior = Literal["uniform", "zipf", "own"]
"""Of contexts: all alike, the i-th commonest as 1/i, or as often as the texts have them."""


@dataclass(frozen=True)
class Distributions:
    """Next-token distributions after two tokens."""

    source: Source
    vocab: int | None
    """Number of tokens. Default: as many as the texts have."""
    contexts: int
    prior: Prior = "uniform"
    noise: float = 0.0
    """Probability of a noisy table that is spread evenly; elsewhere mixed in evenly, so that no token has none."""

    @property
    def in_words(self) -> str:
        prior = {"uniform": "uniform prior", "zipf": "Zipf prior", "own": "own prior"}[self.prior]
        return f"{self.source}, {prior}"


@dataclass(frozen=True)
class BestEncoder:
    """The sequence encoder of rank d: the best one found, and from d = N - 1 on the exact one."""

    distributions: Distributions
    dim: int


@dataclass(frozen=True)
class AttentionLayer:
    """One attention layer with random attention, and W_O by the proof, by convex fit, and by joint fit with W_U."""

    distributions: Distributions
    dim: int
    head_dim: int
    epsilon: float
    """Prior of the contexts that may be left out: there are heads for the others. 0: for all."""
    joint: bool = False


@dataclass(frozen=True)
class OneSumOfMany:
    """Likely contexts with features e_1 ... e_K and one logit vector; an unlikely one has the sum of their features."""

    likely: int
    epsilon: float


@dataclass(frozen=True)
class SharpenedTable:
    """Theorem 3 on a look-up table with a Zipf prior: an encoder of divergence eps, and heads for T_eps contexts."""

    vocab: int
    contexts: int
    epsilon: float
    head_dim: int = 2


@dataclass(frozen=True)
class LookUpRows:
    """The encoder of Theorem 2: E(t) = lambda(t) W_g(t) with random rows."""

    distributions: Distributions
    dim: int


@dataclass(frozen=True)
class TwoContexts:
    """The same with W = I and N = 8 on two contexts: one leaves 1/2 to all others, one to a single token.

    With `doubt` the second is nearly sure of a token that the table does not name.
    """

    doubt: float | None = None


@dataclass(frozen=True)
class Modules:
    """ceil(N_eps / d) attention modules of width d without a skip connection, on random distributions."""

    vocab: int
    contexts: int
    dim: int
    epsilon: float


@dataclass(frozen=True)
class NearlyRankD:
    """Least-squares encoders of a log pi of rank d plus noise."""

    contexts: int
    vocab: int
    dim: int
    noise: float


@dataclass(frozen=True)
class UnlikelyContext:
    """Two contexts of three tokens, one with this prior, and the best weighted fit of rank one."""

    prior: float


@dataclass(frozen=True)
class Circle:
    """Facts of a table by a sequence encoder of dimension 2."""

    facts: str
    """A table, as `rote.facts` takes it."""


@dataclass(frozen=True)
class AttentionRank:
    """The rank of random attention's features on ten contexts more than are guaranteed, or on all there are."""

    vocab: int
    context: int
    dim: int
    head_dim: int
    heads: int


@dataclass(frozen=True)
class StoredFacts:
    """Random facts in one attention layer: p = Hk + d of `facts`. Default: all of them."""

    vocab: int
    context: int
    dim: int
    head_dim: int
    heads: int
    facts: int | None = None
    """Facts that are asked for, beyond those that are stored."""
    rank_one: bool = False
    draws: int = 1
    """Draws of attention, of which the best counts."""


@dataclass(frozen=True)
class QueryAttentionRank:
    """Fixed random attention with a separate query, its readout fitted to random targets by least squares."""

    heads: int
    context: int
    head_dim: int
    dim: int
    shared: bool = True


@dataclass(frozen=True)
class BuiltQueryAttention:
    """Theorem 1 of Mahdavi et al. built for exactly H(min(n, k) - 1) + 1 examples with labels."""

    heads: int
    context: int
    head_dim: int
    dim: int
    shared: bool
    route: Literal["proof", "random"] = "proof"


@dataclass(frozen=True)
class Memorizer:
    """The Transformer of Theorem 4.1 of Kajitsuka and Sato in exact arithmetic, or in words of so many bits."""

    texts: Literal["random", "definitions"]
    sequences: int
    context: int
    mixing: Literal["softmax", "sum"] = "softmax"
    table: bool = False
    """Whether an embedding table gives the codes, in place of F1."""
    bits: int | None = None


@dataclass(frozen=True)
class PositionMemorizer:
    """The same with a label at every position (Corollary 4.1)."""

    sequences: int
    context: int


@dataclass(frozen=True)
class SparseTable:
    """Random facts after two tokens, more than an attention layer with d = k holds, with both priors: built, fitted and
    trained."""

    vocab: int
    facts: int
    dim: int
    heads: int


@dataclass(frozen=True)
class DeepTable:
    """Random facts in a Transformer with d = k whose heads, or whose neurons beside one head per layer, are divided
    among its layers."""

    vocab: int
    context: int
    facts: int
    dim: int
    heads: int
    """Heads of all layers together."""
    layers: int
    mlp: bool = False


@dataclass(frozen=True)
class DeepQueries:
    """Random labels of random queries in layers of query attention over one context."""

    context: int
    facts: int
    classes: int
    dim: int
    head_dim: int
    heads: int
    """Heads of all layers together."""
    layers: int


@dataclass(frozen=True)
class SplitLayer:
    """Random facts in one layer whose parameters are divided between attention heads and an MLP."""

    vocab: int
    facts: int
    dim: int
    head_dim: int
    heads: int
    budget: int
    """Heads that attention and MLP together have the parameters of."""


@dataclass(frozen=True)
class EqualCompute:
    """All pairs of tokens in an attention layer and in an MLP of its size, with the same arithmetic for training."""

    vocab: int
    dim: int
    heads: int
    gigaflops: float


@dataclass(frozen=True)
class LayerAlgorithm:
    """Random facts in one trained attention layer, whose algorithm is asked for, beside the layer of Theorem 1."""

    vocab: int
    facts: int
    dim: int
    heads: int


@dataclass(frozen=True)
class RealTexts:
    """Definitions as sequences of word vectors, in query attention, beside Gaussian vectors of the same sizes."""

    times: int
    """Examples, as a multiple of the H(n - 1) + 1 that Theorem 1 of Mahdavi et al. 2024 guarantees."""
    context: int
    dim: int
    head_dim: int
    heads: int
    classes: int


@dataclass(frozen=True)
class SmallNetworks:
    """ReLU networks with so many parameters that are not zero, and the labelings of N inputs that they give."""

    sequences: int
    parameters: int
    layers: int = 3


Setting = (
    BestEncoder | AttentionLayer | Modules | NearlyRankD | UnlikelyContext | OneSumOfMany | SharpenedTable | LookUpRows
    | TwoContexts | Circle | AttentionRank | StoredFacts | QueryAttentionRank | BuiltQueryAttention | Memorizer
    | PositionMemorizer | SmallNetworks | SparseTable | DeepTable | DeepQueries | SplitLayer | EqualCompute
    | LayerAlgorithm | RealTexts
)  # fmt: skip
