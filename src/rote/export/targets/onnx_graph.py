"""`onnx`: the forward pass as one ONNX file with a dynamic batch, which onnxruntime runs without torch.

`format` int8 or int4 stores the weights of a model on a grid as integers of ONNX's own types, each tensor followed by
DequantizeLinear with the grid's scales. Their products are exact, so the runtime computes with the model's own numbers.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from rote.export.common.integers import LARGEST, Integers, integer_weights, refuse_integers
from rote.export.common.normal_form import WITHOUT_HEADS
from rote.export.common.tabled import TabledRuntime, write_vocabulary
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.models.attention_only import Transformer

FILE = "model.onnx"
INPUT, OUTPUT = "contexts", "logits"
CODES, SCALES = ".codes", ".scales"
"""Ends of the names of integers and their scales."""
OPSET = 21
"""The first with 4-bit integers."""


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
    formats: ClassVar[tuple[str, ...]] = tuple(LARGEST)

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
        return reasons + refuse_integers(model, subject.format)

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
                opset_version=None if subject.format is None else OPSET,
            )
        if subject.format is not None:
            _store_integers(folder / FILE, subject)
        write_vocabulary(folder, subject)
        return Manifest(self.id, format=subject.format)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return _OnnxRuntime(folder, subject, manifest, self.versions)


class _OnnxRuntime(TabledRuntime):
    def __init__(self, folder: Path, subject: ExportSubject, manifest: Manifest, versions: dict[str, str]) -> None:
        import onnx
        import onnxruntime

        super().__init__(folder, subject.spelling)
        self.versions = versions
        graph = onnx.load(folder / FILE).graph
        kinds = ("FLOAT", "DOUBLE", "FLOAT16", "INT8", "INT4")
        numbers = [onnx.TensorProto.DataType.Value(kind) for kind in kinds]
        # Constants of the graph are scalars.
        tensors = [
            tensor
            for tensor in graph.initializer
            if tensor.data_type in numbers and tensor.dims and not tensor.name.endswith(SCALES)
        ]
        self.parameters = sum(math.prod(tensor.dims) for tensor in tensors)
        self.dtype = manifest.format or str(subject.model.dtype_name)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        self._session: Any = onnxruntime.InferenceSession(folder / FILE, options, providers=["CPUExecutionProvider"])

    def logits(self, ids: Tensor) -> Tensor:
        return torch.from_numpy(self._session.run([OUTPUT], {INPUT: ids.numpy()})[0])


def _store_integers(path: Path, subject: ExportSubject) -> None:
    """Replace every weight of the graph, transposed ones included, by its integers and a DequantizeLinear."""
    import onnx
    from onnx import helper, numpy_helper

    model, integers = onnx.load(path), integer_weights(subject.model)
    kind = onnx.TensorProto.DataType.Value(str(subject.format).upper())
    weights = [(tensor.numpy(), integers[name]) for name, tensor in subject.model.weights.items()]
    added = []
    for initializer in list(model.graph.initializer):
        if initializer.data_type != onnx.TensorProto.FLOAT or not initializer.dims:
            continue
        found = _integers_in(numpy_helper.to_array(initializer), weights)
        if found is None:
            raise ValueError(f"the tensor {initializer.name} of the graph is none of the model's")
        codes, scales = found
        axes = [axis for axis, length in enumerate(scales.shape) if length > 1]
        name, shape = initializer.name, [scales.size] if axes else []
        model.graph.initializer.remove(initializer)
        model.graph.initializer.extend(
            [
                helper.make_tensor(name + CODES, kind, codes.shape, _raw(codes, subject.format), raw=True),
                helper.make_tensor(
                    name + SCALES, onnx.TensorProto.FLOAT, shape, scales.astype("<f4").tobytes(), raw=True
                ),
            ]
        )
        node = helper.make_node("DequantizeLinear", [name + CODES, name + SCALES], [name])
        if axes:
            node.attribute.append(helper.make_attribute("axis", axes[0]))
        added.append(node)
    nodes = [*added, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def _raw(codes: np.ndarray, format: str | None) -> bytes:
    """Integers as ONNX stores them: a byte each, or two in a byte with the first in its lower half."""
    flat = codes.reshape(-1).astype(np.int8)
    if format != "int4":
        return flat.tobytes()
    halves = np.append(flat, np.zeros(len(flat) % 2, np.int8)).view(np.uint8) & 15
    return (halves[::2] | halves[1::2] << 4).tobytes()


def _integers_in(found: np.ndarray, weights: Sequence[tuple[np.ndarray, Integers]]) -> Integers | None:
    """The integers of the weight that a tensor of the graph is, with its axes in any order and some of them merged."""
    for values, (codes, scales) in weights:
        if values.size != found.size:
            continue
        for axes in permutations(range(values.ndim)):
            if not np.array_equal(found.reshape(-1), values.transpose(axes).reshape(-1)):
                continue
            moved, whole = scales.transpose(axes), codes.transpose(axes).reshape(found.shape)
            if scales.size == 1:
                return Integers(whole, scales.reshape([1] * found.ndim))
            for axis in (0, -1):
                if moved.shape[axis] == scales.size == found.shape[axis]:
                    shape = [1] * found.ndim
                    shape[axis] = scales.size
                    return Integers(whole, scales.reshape(shape))
            if moved.ndim == found.ndim and found.shape == values.transpose(axes).shape:
                return Integers(whole, moved)
    return None


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
