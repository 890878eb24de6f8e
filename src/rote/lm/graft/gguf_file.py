"""A graft as one GGUF file for llama.cpp: its tensors, with the vocabulary of the GGUF file it was made from.

llama.cpp's Llama reads optional biases of gate, up and down projections, which hold the thresholds. Its rotary
embedding takes neighbouring dimensions as pairs, so the rows of queries and keys are put in that order.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from rote.arguments import typed
from rote.errors import InputError
from rote.folders.destination import FolderKind, check_destination, written_aside
from rote.lm.graft.record import WEIGHTS, read_record
from rote.lm.language_model import need_gguf
from rote.lm.weight_files import weight_files

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
FILE = "model.gguf"
GGUF_FOLDER = FolderKind("a folder with a GGUF file", (FILE,))
OWN = ("GGUF.", "general.architecture", "general.file_type", "general.quantization_version", "llama.block_count")
"""Fields that the new file has by itself."""


@typed
def graft_gguf(path: str | Path, source: str | Path, output: str | Path, *, overwrite: bool = False) -> Path:
    """Write a graft as `model.gguf` in float32 into a folder. `source` is the GGUF file that the model came from.

    >>> import rote
    >>> rote.graft_gguf("grafted", "smollm2.gguf", "for-llama-cpp")
    Traceback (most recent call last):
    rote.errors.InputError: grafted: there is no such folder; give one that `rote graft` wrote
    """
    folder, origin, target = Path(path), Path(source), Path(output)
    record = read_record(folder)
    need_gguf(str(origin))
    weight_files(origin, None)
    check_destination(target, overwrite, GGUF_FOLDER)
    import gguf

    fields = _fields(origin, gguf)
    kind = fields["general.architecture"][0] if "general.architecture" in fields else None
    if kind != "llama" or record.original_config.get("model_type") != "llama":
        raise InputError(f"{origin}: is a model of type {kind!r}; only grafts of a Llama are written as GGUF")
    layers = record.original_layers + record.added_layers
    if fields.get("llama.block_count", (None,))[0] != record.original_layers:
        raise InputError(f"{origin}: has not the {record.original_layers} layers that {folder} was grafted on")
    with written_aside(target) as aside:
        _write(aside / FILE, folder, record.original_config, record.original_layers, layers, fields, gguf)
    return target / FILE


def _fields(origin: Path, gguf: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Contents of a GGUF file's fields with their types."""
    try:
        reader = gguf.GGUFReader(origin)
        return {
            name: (field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)
            for name, field in reader.fields.items()
        }
    except (ValueError, IndexError, KeyError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{origin}: cannot be read ({error}); is the file complete?") from None


def _write(
    path: Path,
    folder: Path,
    config: dict[str, Any],
    original: int,
    layers: int,
    fields: dict[str, tuple[Any, Any, Any]],
    gguf: Any,
) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    for name, (content, kind, inner) in fields.items():
        if not name.startswith(OWN):
            writer.add_key_value(name, content, kind, inner)
    writer.add_block_count(layers)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    heads = {"q_proj": int(config["num_attention_heads"]), "k_proj": int(config["num_key_value_heads"])}
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118
                layer, part, ending = _parts(name)
                if (
                    ending == "bias"
                    and layer is not None
                    and layer < original
                    and not bool(file.get_tensor(name).any())
                ):
                    continue
                tensor = file.get_tensor(name).float()
                projection = part.rpartition(".")[2]
                if projection in heads:
                    tensor = _paired(tensor, heads[projection])
                given = NAMES[part] if layer is None else f"blk.{layer}.{NAMES[part]}"
                writer.add_tensor(f"{given}.{ending}", np.ascontiguousarray(tensor.numpy()))
    except (SafetensorError, KeyError) as error:
        raise InputError(f"{folder / WEIGHTS}: cannot be read ({error})") from None
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _parts(name: str) -> tuple[int | None, str, str]:
    """Layer, part and ending of a tensor's name."""
    found = re.fullmatch(r"(?:model\.layers\.(\d+)\.)?(.*)\.(weight|bias)", name)
    if found is None:
        raise KeyError(name)
    return None if found[1] is None else int(found[1]), found[2], found[3]


def _paired(tensor: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of each head with the partners of every rotation side by side."""
    return tensor.unflatten(0, (heads, 2, -1)).transpose(1, 2).reshape(tensor.shape)
