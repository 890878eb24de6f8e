"""Loading a language model: a Hugging Face folder, a GGUF file, or a name in the local cache.

Nothing is fetched and no code from a model's folder is run unless you allow it.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError

from rote.arguments import typed
from rote.errors import InputError
from rote.lm.language_model import LanguageModel, need_gguf, transformers
from rote.lm.limits import filling, guarded, refuse_config, refuse_more_than_filled
from rote.lm.weight_files import WeightFiles, weight_files
from rote.models.model import dtype_named
from rote.panics import is_panic, quiet

Kind = Literal["causal", "encoder"]

UNREADABLE = (
    OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RuntimeError, ArithmeticError, MemoryError,
    NotImplementedError, ImportError, struct.error, SafetensorError,
)  # fmt: skip
"""What the readers of configurations, tokenizers and weights raise on a file that is not as it should be."""


@typed
def load_language_model(
    model: str | Path,
    *,
    gguf: str | None = None,
    dtype: Literal["float32", "bfloat16", "float16"] = "float32",
    device: str = "cpu",
    download: bool = False,
    remote_code: bool = False,
    attentions: bool = False,
) -> LanguageModel:
    """The language model at `model`: a folder, a GGUF file, or a name that the local cache of the Hub knows.

    `gguf` names the file in a folder that holds several. `download` allows the network, `remote_code` allows Python
    code that comes with the model to run. `attentions` chooses an attention that gives its weights, which is slower.

    >>> import rote, tempfile
    >>> capitals = {("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}
    >>> folder = rote.export_model(rote.build(capitals), "llama", tempfile.mkdtemp() + "/llama", facts=capitals).path
    >>> rote.load_language_model(folder).kind
    'causal'
    """
    kind_of_number, place = dtype_named(dtype), _device(device)
    package = transformers()
    path = Path(model)
    files = weight_files(path, gguf) if path.exists() else None
    if files is not None:
        _refuse_remote_code(files, remote_code)
    if files is not None and files.gguf is not None:
        need_gguf(str(path))
    where = str(files.folder) if files is not None else str(model)
    common: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": remote_code}
    if files is not None and files.gguf is not None:
        common["gguf_file"] = files.gguf
    config = _read(lambda: package.AutoConfig.from_pretrained(where, **common), model, "configuration", files, download)
    if config.is_encoder_decoder:
        raise InputError(f"{model}: is an encoder and a decoder in one; give a causal language model, or an encoder")
    kind = _read(lambda: kind_of(config), model, "configuration", files, download)
    _refuse_no_language_model(config, kind, model)
    tokenizer = _read(lambda: _tokenizer(where, **common), model, "tokenizer", files, download)
    loader = package.AutoModelForCausalLM if kind == "causal" else package.AutoModel
    options: dict[str, Any] = {"dtype": kind_of_number, "output_loading_info": True, **common}
    if attentions:
        options["attn_implementation"] = "eager"
    if files is not None and files.gguf is None:
        options["use_safetensors"] = True
    if files is not None and not remote_code:
        filled = filling(files.folder, files.gguf)
        refuse_config(config.to_dict(), where)
        make = functools.partial(loader.from_config, config)
        _read(lambda: refuse_more_than_filled(make, filled, where), model, "configuration", files, download)
    module, loaded = _read(lambda: loader.from_pretrained(where, **options), model, "weights", files, download)
    _refuse_missing(model, loaded)
    # A GGUF file's numbers keep their stored precision, whatever dtype is given.
    module = module.to(device=place, dtype=kind_of_number).eval()
    guarded(module, str(model))
    return LanguageModel(str(model), module, tokenizer, kind)


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a language model's folder, without any code of the folder's own."""
    files = weight_files(folder, None)
    _refuse_remote_code(files, allowed=False)
    options = {"local_files_only": True, "trust_remote_code": False}
    return _read(lambda: _tokenizer(str(folder), **options), folder, "tokenizer", files, False)


def _tokenizer(where: str, **options: Any) -> Any:
    tokenizer = transformers().AutoTokenizer.from_pretrained(where, **options)
    # Asked for here: transformers looks for a token that it does not have without end.
    _ = tokenizer.unk_token_id
    return tokenizer


def kind_of(config: Any) -> Kind:
    """Whether a configuration describes a causal language model or an encoder.

    Its architectures decide; where it names none, a model that can be both (BERT) is what `is_decoder` says.
    """
    names = config.architectures or []
    if names:
        return "causal" if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names) else "encoder"
    mapping = transformers().models.auto.modeling_auto
    if config.model_type not in mapping.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "encoder"
    both = config.model_type in mapping.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return "causal" if not both or getattr(config, "is_decoder", False) else "encoder"


def _refuse_no_language_model(config: Any, kind: Kind, model: str | Path) -> None:
    """Models of images and others may bring a part that their library fetches."""
    mapping = transformers().models.auto.modeling_auto
    known = {*mapping.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *mapping.MODEL_FOR_MASKED_LM_MAPPING_NAMES}
    if kind == "encoder" and config.model_type in mapping.MODEL_MAPPING_NAMES and config.model_type not in known:
        raise InputError(f"{model}: {config.model_type} is no language model; give a causal one, or an encoder")


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"`device`: {name!r} cannot be used here ({str(error).splitlines()[0]}); cpu always can"
        ) from None
    return device


def _refuse_remote_code(files: WeightFiles, allowed: bool) -> None:
    """A folder that brings its own code, for a kind of model that transformers does not know by itself."""
    known = files.config.get("model_type") in transformers().models.auto.configuration_auto.CONFIG_MAPPING
    if files.wants_remote_code and not known and not allowed:
        raise InputError(
            f"{files.folder}: this model brings its own Python code, which rote does not run by itself; read it, "
            "then allow it with `remote_code`"
        )


def _read(action: Callable[[], Any], model: str | Path, what: str, files: WeightFiles | None, download: bool) -> Any:
    from huggingface_hub.errors import StrictDataclassError

    try:
        with quiet() if what == "tokenizer" and not download else nullcontext():
            return action()
    except BaseException as error:
        # The package tokenizers raises `Exception` itself, of no class of its own, and panics.
        own = type(error) is Exception or is_panic(error)
        if not own and not isinstance(error, (*UNREADABLE, StrictDataclassError)):
            raise
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        if files is None and not download:
            raise InputError(
                f"{model}: no such folder, and the local cache has no model of this name; give a folder, or allow the "
                "network with `download`"
            ) from None
        remedy = "; check that the file is whole" if what == "weights" else ""
        raise InputError(f"{model}: its {what} cannot be read ({reason}){remedy}") from None


def _refuse_missing(model: str | Path, loaded: dict[str, Any]) -> None:
    """Tensors that the files lack would be drawn at random. A pooler's may: nothing here reads it."""
    missing = sorted(name for name in loaded["missing_keys"] if "pooler" not in name)
    if missing:
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise InputError(f"{model}: the weights lack {shown}; is the folder whole?")
