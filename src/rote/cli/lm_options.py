"""Options that commands on language models share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from rote.lm.language_model import LanguageModel, ParameterCount

LOADING = Group("Loading a language model", sort_key=91)


@Parameter(name="*", group=LOADING)
@dataclass(frozen=True)
class LoadingOptions:
    """How a language model is loaded."""

    gguf: str | None = None
    "The GGUF file to load, if a folder has several."
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    "Precision of the weights."
    device: str = "cpu"
    "A torch device."
    download: Annotated[bool, Parameter(negative="")] = False
    "Allow downloads. Default: only local files are read."
    remote_code: Annotated[bool, Parameter(negative="")] = False
    "Allow Python code that comes with the model to run. Default: rejected."


def load_language_model(model: Path, options: LoadingOptions | None, attentions: bool = False) -> LanguageModel:
    from rote.lm.loading import load_language_model as load

    chosen = options or LoadingOptions()
    return load(
        str(model), gguf=chosen.gguf, dtype=chosen.dtype, device=chosen.device, download=chosen.download,
        remote_code=chosen.remote_code, attentions=attentions,
    )  # fmt: skip


def counted_as_parameters(counted: ParameterCount) -> str:
    """Every count says what it counts."""
    return f"{counted.total:,} (all weights, tied ones once; {counted.embeddings:,} of them embedding tables)"
