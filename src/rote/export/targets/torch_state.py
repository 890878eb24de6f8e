"""`torch`: the state dict of the model's `nn.Module` in safetensors, names as in the model folder, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import safetensors.torch
from torch import Tensor, nn

from rote.arguments import typed
from rote.errors import InputError, problems
from rote.export.common.tabled import VOCABULARY, TabledRuntime, write_vocabulary
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.files import held
from rote.folders.layout import read_vocabulary, refuse_larger
from rote.folders.tensors import TensorFile
from rote.models import spec_from_config
from rote.models.model import Model, misfits
from rote.models.module import RoteModule

SPEC, STATE = "spec.json", "state_dict.safetensors"


class TorchState(Target):
    """Any architecture that reads tokens. A state dict that was trained further comes back by `from_torch`."""

    id: ClassVar[str] = "torch"
    summary: ClassVar[str] = "state dict of the nn.Module in safetensors, and back by rote.from_torch"
    requirements: ClassVar[tuple[Requirement, ...]] = (Requirement("torch", "torch", "2.7"),)
    extra: ClassVar[str | None] = None
    data: ClassVar[tuple[str, ...]] = (STATE,)

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        state = {name: tensor.contiguous() for name, tensor in subject.model.to_torch().state_dict().items()}
        (folder / STATE).write_bytes(safetensors.torch.save(state, {"format": "pt"}))
        (folder / SPEC).write_text(json.dumps(subject.model.spec.to_config(), indent=2) + "\n", encoding="utf-8")
        write_vocabulary(folder, subject)
        return Manifest(self.id)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return _TorchRuntime(folder, subject, self.versions)


class _TorchRuntime(TabledRuntime):
    def __init__(self, folder: Path, subject: ExportSubject, versions: dict[str, str]) -> None:
        super().__init__(folder, subject.spelling)
        model = from_torch(folder)
        self._module = model.to_torch().eval()
        self.versions, self.dtype = versions, model.dtype_name
        self.parameters = sum(parameter.numel() for parameter in self._module.parameters())

    def logits(self, ids: Tensor) -> Tensor:
        return self._module(ids)


@typed
def from_torch(source: nn.Module | str | Path) -> Model:
    """The model in an `nn.Module` that `model.to_torch()` gave, as it is now, or in a folder exported to `torch`.

    A module that was trained further, or a state dict saved over `state_dict.safetensors`, can so be measured, built
    upon and exported again.

    >>> import rote
    >>> module = rote.build("random:vocab=6,context=2,facts=9,seed=1").model.to_torch()
    >>> _ = module.get_parameter("unembed").data.zero_()
    >>> rote.recall(rote.from_torch(module), "random:vocab=6,context=2,facts=9,seed=1").recalled
    0
    """
    if isinstance(source, RoteModule):
        weights = {name: tensor.detach().clone() for name, tensor in source.state_dict().items()}
        return Model(source.spec, weights, source.vocabulary, source.reader)
    if isinstance(source, nn.Module):
        raise InputError(
            f"from_torch: a {type(source).__name__} does not say which architecture it is; "
            "give the module that model.to_torch() made, or a folder exported to torch"
        )
    path = Path(source)
    with held(path) as folder:
        missing = [name for name in (SPEC, STATE) if not folder.has(name)]
        if missing:
            raise InputError(f"{path}: not a folder exported to torch, {' and '.join(missing)} missing")
        spec = spec_from_config(folder.json(SPEC), str(path / SPEC))
        file = TensorFile.of(folder, STATE)
        refuse_larger(spec, file)
        if differences := misfits(spec, file.outline()):
            raise problems(f"{path}: the tensors do not fit the specification", differences)
        return Model(spec, file.torch(), read_vocabulary(folder, VOCABULARY))
