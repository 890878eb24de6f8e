"""A small real encoder: the ALBERT of rxnmapper 0.4.3, which reads chemical reactions as SMILES.

Its weights come as a pickle, which rote does not read: they are loaded as bare tensors and saved as safetensors.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SMILES = r"\[[^\]]+\]|Br|Cl|[BCNOSPFIbcnosp]|[()=#+\-\\/:~@?>*$.%]|[0-9]"
MOLECULES = [
    "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C)C(=O)N2C", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "OC(=O)c1ccccc1O",
    "CC(=O)Nc1ccc(O)cc1", "C1CCCCC1N", "CCOC(=O)C", "BrCCCBr", "Clc1ccccc1", "CC#N", "O=C1CCCN1C", "c1ccncc1",
    "CS(=O)C", "NCC(=O)O", "CC(N)C(=O)O", "OCC(O)CO", "FC(F)(F)c1ccccc1", "C1COCCO1", "CCN(CC)CC", "Ic1ccccc1",
]  # fmt: skip


def albert_folder() -> Path | None:
    """Where the package keeps its model; none where it is not installed."""
    spec = find_spec("rxnmapper")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "models" / "transformers" / "albert_heads_8_uspto_all_1310k"


def save_albert(source: Path, folder: Path) -> Path:
    """The same model as a folder that rote loads."""
    folder.mkdir()
    weights = torch.load(source / "pytorch_model.bin", map_location="cpu", weights_only=True)
    kept = {
        name: tensor.clone().contiguous() for name, tensor in weights.items() if not name.startswith("predictions.")
    }
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text()) | {"architectures": ["AlbertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    vocab = {token: place for place, token in enumerate((source / "vocab.txt").read_text().splitlines())}
    backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(SMILES), "removed", invert=True)
    marks = [(mark, vocab[mark]) for mark in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]").save_pretrained(folder)
    return folder
