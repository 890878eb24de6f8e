"""Load the model in this folder into TransformerLens 4 or later: `bridge = load()`. Does not need rote."""

import json
from pathlib import Path

import safetensors.torch
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources.native import boot
from transformers import PreTrainedTokenizerFast


def load(folder=Path(__file__).parent):
    """A TransformerBridge with the model's weights and tokenizer."""
    folder = Path(folder)
    config = TransformerBridgeConfig(**json.loads((folder / "bridge.json").read_text(encoding="utf-8")))
    bridge = boot(config, tokenizer=PreTrainedTokenizerFast.from_pretrained(folder))
    bridge.load_state_dict(safetensors.torch.load_file(folder / "bridge.safetensors"), strict=True)
    return bridge.eval()
