"""`onnx`: the forward pass as one ONNX file with a dynamic batch, which onnxruntime runs without torch."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from rote.export.common.normal_form import WITHOUT_HEADS
from rote.export.common.tabled import TabledRuntime, write_vocabulary
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.models.attention_only import Transformer

FILE = "model.onnx"
INPUT, OUTPUT = "contexts", "logits"


class OnnxGraph(Target):
    """Input `contexts` (batch x context token ids, int64), output `logits` (batch x vocab)."""

    id: ClassVar[str] = "onnx"
    summary: ClassVar[str] = "one ONNX file with a dynamic batch; onnxruntime runs it without torch"
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("onnx", "onnx", "1.17"),
        Requirement("onnxscript", "onnxscript", "0.5"),
        Requirement("onnxruntime", "onnxruntime", "1.20"),
    )
    extra: ClassVar[str | None] = "onnx"
    data: ClassVar[tuple[str, ...]] = (FILE,)

    def refusals(self, subject: ExportSubject) -> list[str]:
        model, reasons = subject.model, []
        if model.spec.index_shapes():
            reasons.append(
                f"a {model.spec.architecture} finds each context by a search among its keys, which is no fixed graph; "
                "export it to torch or huggingface"
            )
        if isinstance(model.spec, Transformer) and not model.spec.heads:
            reasons.append(f"torch's export to ONNX {WITHOUT_HEADS}")
        if model.dtype_name == "bfloat16":
            reasons.append('onnxruntime multiplies no bfloat16 on a CPU; convert first: model.to("float32")')
        return reasons

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        module = subject.model.to_torch().eval()
        example = torch.from_numpy(subject.contexts[:2])
        if len(example) == 1:
            example = example.repeat(2, 1)
        with _quiet():
            torch.onnx.export(
                module,
                (example,),
                folder / FILE,
                dynamo=True,
                external_data=False,
                input_names=[INPUT],
                output_names=[OUTPUT],
                dynamic_shapes=({0: torch.export.Dim("batch", min=1)},),
                verbose=False,
            )
        write_vocabulary(folder, subject)
        return Manifest(self.id)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return _OnnxRuntime(folder, subject, self.versions)


class _OnnxRuntime(TabledRuntime):
    def __init__(self, folder: Path, subject: ExportSubject, versions: dict[str, str]) -> None:
        import onnx
        import onnxruntime

        super().__init__(folder, subject.spelling)
        self.versions = versions
        graph = onnx.load(folder / FILE).graph
        floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
        # Constants of the graph are scalars.
        tensors = [tensor for tensor in graph.initializer if tensor.data_type in floats and tensor.dims]
        self.parameters = sum(math.prod(tensor.dims) for tensor in tensors)
        self.dtype = str(subject.model.dtype_name)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        self._session: Any = onnxruntime.InferenceSession(folder / FILE, options, providers=["CPUExecutionProvider"])

    def logits(self, ids: Tensor) -> Tensor:
        return torch.from_numpy(self._session.run([OUTPUT], {INPUT: ids.numpy()})[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter warns of libraries it does not need and of its own deprecations."""
    logs = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)
