"""Architectures: a frozen specification, a forward pass, an audited parameter count."""

from rote.models.attention_only import AttentionOnly as AttentionOnly
from rote.models.attention_only import Transformer as Transformer
from rote.models.bilinear_memory import BilinearMemory as BilinearMemory
from rote.models.deep_relu import DeepRelu as DeepRelu
from rote.models.linear_memory import LinearMemory as LinearMemory
from rote.models.memory_transformer import MemoryTransformer as MemoryTransformer
from rote.models.mlp_transformer import MlpTransformer as MlpTransformer
from rote.models.query_attention import QueryAttention as QueryAttention
from rote.models.reduced_attention import ReducedAttention as ReducedAttention
from rote.models.sequence_encoder import SequenceEncoder as SequenceEncoder
from rote.models.spec import ARCHITECTURES as ARCHITECTURES
from rote.models.spec import Spec as Spec
from rote.models.spec import spec_from_config as spec_from_config
