"""The architectures in the conformance suite."""

from __future__ import annotations

import naive
import naive_deep_relu
import naive_memory_transformer

from rote.models import (
    AttentionOnly,
    BilinearMemory,
    DeepRelu,
    LinearMemory,
    MemoryTransformer,
    MlpTransformer,
    QueryAttention,
    ReducedAttention,
    SequenceEncoder,
)
from rote.testing import ArchitectureCase as Case
from rote.testing.architectures import key_inputs, vector_inputs

CASES: dict[str, Case] = {
    "attention-only": Case(
        specs=[
            AttentionOnly(vocab=5, context=2, dim=4, head_dim=3, heads=3),
            AttentionOnly(vocab=9, context=3, dim=6, head_dim=2, heads=20, query_key_rank=1),
            AttentionOnly(vocab=7, context=4, dim=5, head_dim=5, heads=2, scale_scores=True, layers=2),
            AttentionOnly(vocab=6, context=3, dim=4, head_dim=2, heads=2, layers=3, positions="every-layer"),
            AttentionOnly(vocab=6, context=3, dim=4, head_dim=2, heads=2, layers=3, positions="attention"),
            AttentionOnly(vocab=5, context=2, dim=4, head_dim=3, heads=3, positions="attention"),
            AttentionOnly(vocab=6, context=2, dim=5, head_dim=2, heads=4, variant="shared"),
            AttentionOnly(vocab=6, context=3, dim=5, head_dim=3, heads=2, variant="shared", layers=2, query_key_rank=2),
            AttentionOnly(
                vocab=6, context=3, dim=5, head_dim=3, heads=2, variant="shared", layers=3, positions="attention"
            ),
            AttentionOnly(vocab=6, context=2, dim=3, head_dim=5, heads=2, wide_heads=True, variant="shared"),
            AttentionOnly(vocab=6, context=2, dim=3, head_dim=5, heads=2, wide_heads=True),
            AttentionOnly(vocab=4, context=2, dim=3, head_dim=3, heads=2, variant="shared"),
            AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=0),
            AttentionOnly(vocab=5, context=3, dim=4, head_dim=3, heads=0, layers=2, positions="every-layer"),
        ],
        naive=naive.attention_only,
        rejected=[
            ({"context": 1}, "one token"),
            ({"head_dim": 5}, "`head_dim` 5 exceeds `dim` 4"),
            ({"query_key_rank": 4}, "`query_key_rank` 4"),
            ({"heads": -1}, "heads"),
            ({"heads": 0, "variant": "shared"}, "compression without heads"),
            ({"vocab": -3}, "vocab"),
            ({"dim": 2.5}, "dim"),
            ({"variant": "both"}, "variant"),
            ({"positions": "nowhere"}, "positions"),
            ({"vocab": 2**40, "dim": 2**40}, "cannot be held"),
            ({"colour": 3}, "colour"),
        ],
    ),
    "mlp-transformer": Case(
        specs=[
            MlpTransformer(vocab=5, context=2, dim=4, head_dim=3, heads=1, width=7),
            MlpTransformer(vocab=9, context=3, dim=6, head_dim=2, heads=3, width=4, activation="relu"),
            MlpTransformer(vocab=5, context=2, dim=4, head_dim=4, width=0),
            MlpTransformer(
                vocab=5, context=3, dim=4, head_dim=2, heads=2, width=5, layers=2,
                positions="every-layer", scale_scores=True,
            ),
            MlpTransformer(vocab=5, context=3, dim=4, head_dim=2, heads=2, width=5, layers=2, positions="attention"),
            MlpTransformer(vocab=5, context=2, dim=4, head_dim=3, heads=1, width=7, positions="attention"),
        ],
        naive=naive.mlp_transformer,
        rejected=[
            ({"context": 1}, "one token"),
            ({"head_dim": 9}, "`head_dim` 9 exceeds `dim` 4"),
            ({"width": -1}, "width"),
            ({"activation": "tanh"}, "activation"),
            ({"heads": 0}, "heads"),
        ],
    ),
    "sequence-encoder": Case(
        specs=[
            SequenceEncoder(vocab=5, context=2, contexts=11, dim=3),
            SequenceEncoder(vocab=2, context=3, contexts=8, dim=2),
            SequenceEncoder(vocab=1000, context=13, contexts=20, dim=4),
            SequenceEncoder(vocab=3, context=1, contexts=1, dim=1),
        ],
        naive=naive.sequence_encoder,
        inputs=key_inputs,
        rejected=[
            ({"contexts": 26}, "exceeds the 25 sequences"),
            ({"contexts": 0}, "contexts"),
            ({"dim": 0}, "dim"),
        ],
    ),
    "linear-memory": Case(
        specs=[
            LinearMemory(vocab=5, inputs=4, dim=3),
            LinearMemory(vocab=4, context=2, inputs=16, dim=6),
            LinearMemory(vocab=70_000, context=9, inputs=12, dim=2),
        ],
        naive=naive.linear_memory,
        inputs=key_inputs,
        rejected=[({"inputs": 6}, "exceeds the 5 sequences"), ({"inputs": 0}, "inputs"), ({"dim": None}, "dim")],
    ),
    "bilinear-memory": Case(
        specs=[
            BilinearMemory(vocab=5, inputs=4, dim=3, width=7),
            BilinearMemory(vocab=4, context=2, inputs=16, dim=6, width=2),
        ],
        naive=naive.bilinear_memory,
        inputs=key_inputs,
        rejected=[({"inputs": 6}, "exceeds the 5 sequences"), ({"width": 0}, "width")],
    ),
    "query-attention": Case(
        specs=[
            QueryAttention(context=3, dim=5, head_dim=2, heads=3, outputs=4),
            QueryAttention(context=4, dim=6, head_dim=6, heads=2, value_dim=3, outputs=1),
            QueryAttention(context=1, dim=3, head_dim=1, heads=1, outputs=2, embed=True),
            QueryAttention(context=4, dim=5, head_dim=3, heads=2, value_dim=2, outputs=3, sinusoids=True),
            QueryAttention.experiment(context=5, outputs=7, heads=3, head_dim=4, dim=8),
        ],
        naive=naive.query_attention,
        inputs=vector_inputs,
        # Attention to a single token has nothing to choose.
        without_effect=lambda spec: {"query", "key"} if spec.context == 1 else set(),
        rejected=[
            ({"head_dim": 6}, "`head_dim` 6 exceeds `dim` 5"),
            ({"value_dim": 6}, "`value_dim` 6 exceeds `dim` 5"),
            ({"heads": 0}, "heads"),
            ({"outputs": 0}, "outputs"),
        ],
    ),
    "deep-relu": Case(
        specs=[
            DeepRelu(vocab=5, context=3, width=6, layers_before=2, layers_after=3, word_bits=8),
            DeepRelu(vocab=4, context=2, width=5, layers_before=1, layers_after=1, word_bits=8, ordered=False),
            DeepRelu(vocab=4, context=3, width=4, layers_before=0, layers_after=2, word_bits=8, input="table"),
            DeepRelu(
                vocab=4, context=3, width=4, layers_before=1, layers_after=1, word_bits=8, input="table", ordered=False,
            ),
            DeepRelu(vocab=4, context=3, width=5, layers_before=2, layers_after=1, word_bits=8, mixing="sum"),
            DeepRelu(vocab=3, context=4, width=5, layers_before=1, layers_after=2, word_bits=8, every_position=True),
        ],
        naive=naive_deep_relu.deep_relu,
        models=naive_deep_relu.lively,
        rejected=[
            ({"width": 2}, "width"),
            ({"layers_after": 0}, "layers_after"),
            ({"dim": 3}, "`dim=3`"),
            ({"input": "vectors"}, "`dim=None`"),
            ({"input": "vectors", "dim": 3}, "ordered"),
            ({"mixing": "max"}, "mixing"),
        ],
    ),
    "reduced-attention": Case(
        specs=[
            ReducedAttention(vocab=5, context=2, dim=4, head_dim=3, heads=3),
            ReducedAttention(vocab=9, context=3, dim=6, head_dim=2, heads=20, query_key_rank=1, scale_scores=True),
            ReducedAttention(vocab=4, context=2, dim=4, head_dim=4, heads=2),
        ],
        naive=naive.reduced_attention,
        rejected=[
            ({"context": 1}, "one token"),
            ({"vocab": 3}, "as many tokens"),
            ({"head_dim": 5}, "`head_dim` 5 exceeds `dim` 4"),
            ({"heads": 0}, "heads"),
        ],
    ),
    "memory-transformer": Case(
        specs=[
            MemoryTransformer(
                vocab=7, context=3, key_tokens=5, dim=4, groups=4, heads=3, slots=6, digits=1,
                neurons=3, answer_neurons=2, word_bits=24,
            ),
            MemoryTransformer(
                vocab=6, context=2, key_tokens=6, dim=3, groups=5, heads=2, slots=5, digits=3,
                neurons=4, answer_neurons=1, word_bits=24, ordered=False,
            ),
            MemoryTransformer(
                vocab=5, context=2, key_tokens=5, dim=4, groups=9, heads=1, slots=12, digits=2,
                neurons=2, answer_neurons=3, word_bits=24,
            ),
        ],
        naive=naive_memory_transformer.memory_transformer,
        models=naive_memory_transformer.lively,
        dtypes=("float64", "float32"),
        rejected=[
            ({"key_tokens": 8}, "`key_tokens` 8 exceeds `vocab` 7"),
            ({"groups": 0}, "groups"),
            ({"digits": 0}, "digits"),
            ({"neurons": -1}, "neurons"),
        ],
    ),
    "deep-relu of vectors": Case(
        specs=[
            DeepRelu(
                vocab=4, context=3, width=5, layers_before=2, layers_after=2, word_bits=8,
                input="vectors", dim=3, ordered=False,
            ),
        ],
        naive=naive_deep_relu.deep_relu,
        models=naive_deep_relu.lively,
        inputs=vector_inputs,
        rejected=[],
    ),
}  # fmt: skip
