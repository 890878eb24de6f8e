"""A grafted model on disk: a plain checkpoint of a stock class, its tokenizer, and `graft.json`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from rote.errors import InputError, cut, listed
from rote.files import read_json
from rote.folders.destination import FolderKind, written_aside
from rote.folders.folder import write_json
from rote.lm.graft.host import Host, Neurons
from rote.lm.graft.record import RECORD, WEIGHTS, GraftRecord, read_record
from rote.lm.language_model import LanguageModel, transformers
from rote.lm.limits import Filling, guarded, refuse_config, refuse_more_than_filled
from rote.lm.loading import UNREADABLE, kind_of, load_language_model, load_tokenizer
from rote.lm.weight_files import weight_files

GRAFT_FOLDER = FolderKind("a grafted model", ("config.json", RECORD))
PLAIN_FOLDER = FolderKind("a language model", ("config.json",))
LAYER_PREFIX = {"llama": "model.layers.", "gpt2": "transformer.h."}


def check_room(path: Path, host: Host, layers: int) -> None:
    """Refuse a disk that has no room for the checkpoint, before anything is computed."""
    size = torch.finfo(host.dtype).bits // 8
    per_layer = sum(tensor.numel() for name, tensor in host.kept().items() if name.startswith(_first_layer(host)))
    needed = size * (sum(tensor.numel() for tensor in host.kept().values()) + layers * per_layer)
    nearest = next(folder for folder in path.absolute().parents if folder.exists())
    free = shutil.disk_usage(nearest).free
    if free < needed:
        raise InputError(f"{path}: the checkpoint takes {needed:,} bytes, and the disk has {free:,} left; free some")


def _first_layer(host: Host) -> str:
    return f"{LAYER_PREFIX['gpt2' if host.config.model_type == 'gpt2' else 'llama']}0."


def write_checkpoint(folder: Path, host: Host, layers: list[Neurons]) -> int:
    """Write configuration, tokenizer and weights; the number of parameters added."""
    kept = host.kept()
    new: dict[str, Tensor] = {}
    for number, neurons in enumerate(layers):
        new |= host.layer(host.layers + number, neurons)
    save_file({**kept, **new}, folder / WEIGHTS, metadata={"format": "pt"})
    host.new_config(len(layers)).save_pretrained(folder)
    host.model.tokenizer.save_pretrained(folder)
    generation = getattr(host.model.module, "generation_config", None)
    if generation is not None:
        # Its own way of writing refuses settings that it has read without a word.
        write_json(folder / "generation_config.json", generation.to_diff_dict())
    original = sum(tensor.numel() for tensor in host.model.module.state_dict().values())
    tied = host.config.tie_word_embeddings
    original -= host.model.module.lm_head.weight.numel() if tied else 0
    return sum(tensor.numel() for tensor in (*kept.values(), *new.values())) - original


def write_record(folder: Path, record: GraftRecord) -> None:
    text = json.dumps(record.model_dump(mode="json"), indent=2, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")


def load_graft(path: Path, record: GraftRecord) -> tuple[LanguageModel, LanguageModel]:
    """The grafted model, and the model as it was before, both from the folder's own tensors."""
    grafted = load_language_model(path, dtype=record.dtype)
    config, tensors = original_parts(path, record)
    if record.original_layers + record.added_layers != grafted.module.config.num_hidden_layers:
        raise InputError(f"{path / RECORD}: its layers are not those of the checkpoint; is it damaged?")
    _refuse_other_shapes(path, config, tensors)
    loader = transformers().AutoModelForCausalLM
    module = loader.from_config(config, dtype=next(grafted.module.parameters()).dtype)
    module.load_state_dict(tensors, strict=False)
    module.tie_weights()
    guarded(module, str(path))
    return grafted, LanguageModel(str(path), module.eval(), grafted.tokenizer, "causal")


def _refuse_other_shapes(path: Path, config: Any, tensors: dict[str, Tensor]) -> None:
    """Refuse tensors that do not fit the configuration, before memory is taken for it."""
    made: list[Any] = []
    loader = transformers().AutoModelForCausalLM
    sizes = Filling(len(tensors), sum(tensor.nbytes for tensor in tensors.values()))
    try:
        refuse_more_than_filled(lambda: made.append(loader.from_config(config)), sizes, str(path / RECORD))
    except UNREADABLE as error:
        raise InputError(f"{path / RECORD}: its configuration cannot be used ({cut(error)})") from None
    wanted = made[0].state_dict()
    if config.tie_word_embeddings:
        wanted.pop("lm_head.weight", None)
    wrong = sorted(set(wanted) ^ set(tensors))
    wrong = wrong or [name for name, tensor in tensors.items() if tensor.shape != wanted[name].shape]
    if wrong:
        raise InputError(f"{path}: {listed(wrong[:5])} does not fit the configuration in {RECORD}; is it damaged?")


def original_parts(path: Path, record: GraftRecord) -> tuple[Any, dict[str, Tensor]]:
    """The configuration and the tensors that the model had before."""
    kind = record.original_config.get("model_type")
    from huggingface_hub.errors import StrictDataclassError

    known = transformers().models.auto.configuration_auto.CONFIG_MAPPING
    if not isinstance(kind, str) or kind not in (*LAYER_PREFIX, "mistral", "qwen2"):
        raise InputError(f"{path / RECORD}: {kind!r} is no model class that takes a graft; rote did not write this")
    refuse_config(record.original_config, str(path / RECORD))
    try:
        config = known[kind](**{name: value for name, value in record.original_config.items() if name != "model_type"})
        causal = kind_of(config) == "causal"
    except (*UNREADABLE, StrictDataclassError) as error:
        raise InputError(f"{path / RECORD}: its configuration cannot be read ({str(error)[:200]})") from None
    if not causal or config.num_hidden_layers != record.original_layers:
        raise InputError(f"{path / RECORD}: its configuration has not {record.original_layers} layers; is it damaged?")
    prefix = LAYER_PREFIX["gpt2" if kind == "gpt2" else "llama"]
    weight_files(path, None)
    tensors: dict[str, Tensor] = {}
    try:
        with safe_open(path / WEIGHTS, framework="pt") as file:
            if config.num_hidden_layers > len(file.keys()):
                raise InputError(f"{path / RECORD}: names more layers than {WEIGHTS} has tensors; is it damaged?")
            for name in file.keys():  # noqa: SIM118
                if not _is_new(name, prefix, config):
                    tensors[name] = file.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path / WEIGHTS}: cannot be read ({error})") from None
    return config, tensors


def _is_new(name: str, prefix: str, config: Any) -> bool:
    """Whether a tensor belongs to an added layer, or is a bias that the original class has not."""
    number = name.removeprefix(prefix).partition(".")[0]
    if name.startswith(prefix) and number.isdecimal() and int(number) >= config.num_hidden_layers:
        return True
    if config.model_type == "gpt2":
        return False
    mlp = ".mlp." in name and name.endswith(".bias") and not getattr(config, "mlp_bias", False)
    return mlp or (config.model_type == "qwen2" and name.endswith(".o_proj.bias"))


def remove_graft(path: Path, output: Path) -> Path:
    """Write the model as it was before the graft, every weight bit for bit."""
    record = read_record(path)
    config, tensors = original_parts(path, record)
    tokenizer = load_tokenizer(path)
    with written_aside(output) as aside:
        save_file(tensors, aside / WEIGHTS, metadata={"format": "pt"})
        config.save_pretrained(aside)
        tokenizer.save_pretrained(aside)
        if (path / "generation_config.json").is_file():
            settings = read_json(path / "generation_config.json")
            write_json(aside / "generation_config.json", settings)
    return output
