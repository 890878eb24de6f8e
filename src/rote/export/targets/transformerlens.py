"""`transformerlens`: a TransformerBridge with the model's own heads, no norm and no trick between them.

Its native model divides scores by the root of a head's dimensions, which is folded into the queries, gives queries and
values one length, and has biases, which are zero but for an MLP's first.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import safetensors.torch
import torch
from torch import Tensor

from rote.export import shipped
from rote.export.common.normal_form import NormalForm, normal_form, refuse_other_architectures
from rote.export.common.tokenizer import refuse_text, write_tokenizer
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target

CONFIG, STATE, LOADER = "bridge.json", "bridge.safetensors", "load.py"


class TransformerLens(Target):
    """`load.py` in the folder gives the bridge; heads are the model's, in their order."""

    id: ClassVar[str] = "transformerlens"
    summary: ClassVar[str] = "TransformerBridge for TransformerLens 4: hooks, caches, patterns, ablations"
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("transformer-lens", "transformer_lens", "4.0"),
        Requirement("transformers", "transformers", "5.0"),
        Requirement("tokenizers", "tokenizers", "0.21"),
    )
    extra: ClassVar[str | None] = "lens"
    sentences: ClassVar[bool] = True
    data: ClassVar[tuple[str, ...]] = (STATE,)

    def refusals(self, subject: ExportSubject) -> list[str]:
        return refuse_other_architectures("TransformerLens", subject.model) or refuse_text(subject)

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        write_tokenizer(folder, subject, None)
        form = normal_form(subject.model)
        (folder / CONFIG).write_text(json.dumps(bridge_config(form), indent=2) + "\n", encoding="utf-8")
        state = {name: tensor.float().contiguous() for name, tensor in bridge_state(form).items()}
        (folder / STATE).write_bytes(safetensors.torch.save(state, {"format": "pt"}))
        shutil.copyfile(Path(shipped.__file__).parent / "load_bridge.py", folder / LOADER)
        return Manifest(self.id)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return BridgeRuntime(folder, self.versions)


class BridgeRuntime(Runtime):
    """The bridge as the loader that is in every such folder gives it."""

    def __init__(self, folder: Path, versions: dict[str, str]) -> None:
        self.bridge: Any = load_bridge(folder)
        self.versions, self.dtype = versions, "float32"
        self.vocab = int(self.bridge.cfg.d_vocab_out)
        self.parameters = sum(parameter.numel() for parameter in self.bridge.parameters())

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return self.bridge.to_tokens(list(texts), prepend_bos=False).tolist()

    def words(self, tokens: Sequence[int]) -> list[str]:
        return [self.bridge.to_string(torch.tensor([token])) for token in tokens]

    def logits(self, ids: Tensor) -> Tensor:
        return self.bridge(ids, return_type="logits")[:, -1]


def load_bridge(folder: str | Path) -> Any:
    """The bridge in a folder exported to `transformerlens`, by rote's own copy of the loader that is in it."""
    loader: Any = import_module("rote.export.shipped.load_bridge")
    return loader.load(folder)


def bridge_config(form: NormalForm) -> dict[str, Any]:
    return {
        "d_model": form.dim,
        "d_head": form.head_dim,
        "n_heads": form.heads,
        "n_layers": len(form.layers),
        "n_ctx": len(form.positions),
        "d_vocab": len(form.tokens),
        "d_vocab_out": len(form.tokens),
        "d_mlp": max(1, form.width),
        "attn_only": form.width == 0,
        "act_fn": form.activation,
        "normalization_type": None,
        "positional_embedding_type": "standard",
        "attention_dir": "causal",
        "tokenizer_prepends_bos": False,
        "init_weights": False,
        "seed": 0,
    }


def bridge_state(form: NormalForm) -> dict[str, Tensor]:
    """Tensors under the names that a bridge gives them."""

    def zeros(*lengths: int) -> Tensor:
        return torch.zeros(*lengths, dtype=torch.float64)

    k, dim = form.head_dim, form.dim
    state = {
        "embed.weight": form.tokens,
        "pos_embed.weight": form.positions,
        "unembed.weight": form.unembed,
        "unembed.bias": zeros(len(form.unembed)),
    }
    for number, layer in enumerate(form.layers):
        heads = len(layer.query)
        part = f"blocks.{number}."
        for name, matrix in (("q", layer.query * math.sqrt(k)), ("k", layer.key), ("v", layer.value)):
            whole = zeros(heads, k, dim)
            whole[:, : matrix.shape[1]] = matrix
            state[f"{part}attn.{name}.weight"] = whole.reshape(-1, dim)
            state[f"{part}attn.{name}.bias"] = zeros(heads * k)
        output = zeros(dim, heads, k)
        output[:, :, : layer.output.shape[2]] = layer.output.permute(1, 0, 2)
        state[part + "attn.o.weight"] = output.reshape(dim, -1)
        state[part + "attn.o.bias"] = zeros(dim)
        if layer.mlp is not None:
            state |= {
                part + "mlp.in.weight": layer.mlp.inward,
                part + "mlp.in.bias": layer.mlp.bias,
                part + "mlp.out.weight": layer.mlp.outward,
                part + "mlp.out.bias": zeros(dim),
            }
    return state
