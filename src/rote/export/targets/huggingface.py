"""`huggingface`: rote's own architectures for transformers, with their code in the folder.

For models that no plain checkpoint can hold, and for all others without any trick: the tensors are those of the model
folder, in their dtype and under their names.
"""

from __future__ import annotations

import ast
import shutil
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from rote.export import shipped
from rote.export.common.checkpoint import TRANSFORMERS, CheckpointRuntime, write_checkpoint
from rote.export.common.tokenizer import refuse_text, write_tokenizer
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.models.spec import Spec

CODE = "modeling_rote.py"


class HuggingFace(Target):
    """`AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)`, offline."""

    id: ClassVar[str] = "huggingface"
    summary: ClassVar[str] = "rote's own architecture for AutoModelForCausalLM, code in the folder"
    requirements: ClassVar[tuple[Requirement, ...]] = TRANSFORMERS
    extra: ClassVar[str | None] = "hf"
    sentences: ClassVar[bool] = True
    data: ClassVar[tuple[str, ...]] = ("model.safetensors",)

    def refusals(self, subject: ExportSubject) -> list[str]:
        architecture = subject.model.spec.architecture
        if architecture not in shipped_architectures():
            return [f"there is no code for a {architecture} to run without rote; export it to torch"]
        return refuse_text(subject)

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        size = write_tokenizer(folder, subject, None)
        model = subject.model
        write_checkpoint(folder, rote_config(model.spec, model.dtype_name, size), dict(model.weights), size - 1)
        shutil.copyfile(Path(shipped.__file__).parent / CODE, folder / CODE)
        return Manifest(self.id)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return ShippedCodeRuntime(folder, subject, manifest, self.versions)


@cache
def shipped_architectures() -> frozenset[str]:
    """Architectures that the code in the folder runs: the keys of its table, read without importing transformers."""
    code = ast.parse((Path(shipped.__file__).parent / CODE).read_text(encoding="utf-8"))
    tables = (node.value for node in code.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict))
    return frozenset(str(key.value) for table in tables for key in table.keys if isinstance(key, ast.Constant))


class ShippedCodeRuntime(CheckpointRuntime):
    """The model by the code that every such folder has, here rote's own copy of it: none is imported from a folder.

    Margins are the model's own, so answers are the likeliest tokens.
    """

    samples: ClassVar[bool] = False
    shipped_code = True


def rote_config(spec: Spec, dtype: str, size: int) -> dict[str, Any]:
    return {
        "architectures": ["RoteForCausalLM"],
        "model_type": "rote",
        "auto_map": {
            "AutoConfig": "modeling_rote.RoteConfig",
            "AutoModelForCausalLM": "modeling_rote.RoteForCausalLM",
        },
        "vocab_size": size,
        "spec": spec.to_config(),
        "shapes": {name: list(shape) for name, shape in spec.shapes().items()},
        "index_shapes": {name: list(shape) for name, shape in spec.index_shapes().items()},
        "torch_dtype": dtype,
        "dtype": dtype,
        "tie_word_embeddings": False,
    }
