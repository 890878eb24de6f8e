"""What InterpBench has per model, without pickle: meta.json, the edges of the circuit and a configuration as JSON."""

from __future__ import annotations

from pathlib import Path

from rote.folders.folder import write_json
from rote.models.attention_only import Transformer


def write_interpbench(folder: Path, spec: Transformer, name: str, checkpoint: str) -> None:
    """`meta.json`, `edges.json` and `ll_model_cfg.json`; the tensors are those of the TransformerLens export."""
    folder.mkdir()
    write_json(folder / "edges.json", edges(spec))
    write_json(
        folder / "ll_model_cfg.json",
        {
            "n_layers": spec.layers,
            "n_heads": spec.heads,
            "d_model": spec.dim,
            "d_head": spec.head_dim,
            "d_mlp": spec.width,
            "n_ctx": spec.context,
            "d_vocab": spec.vocab,
            "act_fn": spec.activation,
            "normalization_type": None,
            "attention_dir": "causal",
        },
    )
    meta = {"case": name, "task": "recall of stored facts", "weights": checkpoint, "complete": True}
    write_json(folder / "meta.json", meta)


def edges(spec: Transformer) -> list[list[str]]:
    """Edges of the circuit by TransformerLens's names of hooks: every head and MLP reads what stands before it."""
    found: list[list[str]] = []
    writers = ["blocks.0.hook_resid_pre"]
    for layer in range(spec.layers):
        block = f"blocks.{layer}."
        heads = [f"{block}attn.hook_result[{head}]" for head in range(spec.heads)]
        found += [[writer, head] for writer in writers for head in heads]
        writers += heads
        if spec.width:
            found += [[writer, f"{block}hook_mlp_out"] for writer in writers]
            writers.append(f"{block}hook_mlp_out")
    last = f"blocks.{spec.layers - 1}.hook_resid_post"
    return [*found, *([writer, last] for writer in writers)]
