"""A model: a specification, its tensors, and the vocabulary that makes its tokens readable.

A model knows nothing of how its weights were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rote.arguments import typed
from rote.display import html_pairs, number
from rote.errors import InputError, problems
from rote.models.asking import Answer, ask, ask_all
from rote.models.forward import forward, forward_in_parts
from rote.models.grid import Precision
from rote.models.module import RoteModule
from rote.models.spec import Dtype, Spec
from rote.tasks import Task, TokenTask, Vocabulary
from rote.tasks.cells import Cell
from rote.tasks.key_reader import KeyReader

DTYPES: dict[Dtype, torch.dtype] = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def dtype_named(name: str) -> torch.dtype:
    """The torch dtype of a name, such as "float32"; another name is an error that lists those there are."""
    found = next((dtype for known, dtype in DTYPES.items() if known == name), None)
    if found is None:
        raise InputError(f"`dtype={name}`: is not one of {', '.join(DTYPES)}")
    return found


@dataclass(frozen=True, eq=False)
class Model:
    """Weights that fit their specification; checked on creation.

    >>> import rote
    >>> model = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"}).model
    >>> model.ask("capital", "Japan").answer
    'Tokyo'
    >>> model.ask("capital", "Peru").known
    False
    >>> model.to("bfloat16").dtype_name
    'bfloat16'
    """

    spec: Spec
    weights: dict[str, Tensor]
    vocabulary: Vocabulary | None = None
    reader: KeyReader | None = None
    """How keys in words become token ids, and which keys were stored. Default: the vocabulary alone."""
    precision: Precision | None = None
    """Grids that the float32 weights are on, where they are stored as packed integers. Default: stored as they are."""

    def __post_init__(self) -> None:
        differences = misfits(self.spec, self.weights)
        vocab = self.spec.vocab
        if self.vocabulary is not None and vocab is not None and vocab != len(self.vocabulary):
            differences.append(f"the vocabulary has {len(self.vocabulary)} tokens but the specification says {vocab}")
        if self.precision is not None and self.spec.index_shapes():
            differences.append(f"`dtype={self.precision.name}`: its tensors of integers are not packed")
        if not differences and self.precision is not None:
            differences = self.precision.misfits({name: self.weights[name].numpy() for name in self.spec.shapes()})
        if differences:
            raise problems(f"{self.spec.architecture} model", differences)

    def __repr__(self) -> str:
        sizes = self.spec.model_dump(exclude_defaults=True)
        named = ", ".join(f"{name} {number(size)}" for name, size in sizes.items())
        return (
            f"Model({self.spec.architecture}: {named};\n"
            f"      {self.parameters:,} parameters in {self.precision_name}, {self.bytes:,} bytes, {self._knows()})"
        )

    def _repr_html_(self) -> str:
        sizes = self.spec.model_dump(exclude_defaults=True)
        rest = {"parameters": self.parameters, "dtype": self.precision_name, "bytes": self.bytes, "keys": self._knows()}
        return html_pairs(f"{self.spec.architecture} model", {**sizes, **rest})

    def _knows(self) -> str:
        """The questions that the model takes, in words."""
        if self.vocabulary is None:
            return "without a vocabulary"
        known = self.reader is not None and self.reader.stored is not None
        return f"{len(self.vocabulary):,} tokens, {'knows its keys' if known else 'does not know its keys'}"

    def to_torch(self) -> RoteModule:
        """The model as a `torch.nn.Module` with its own parameters, named as in a model folder.

        Logits and gradients are those of the one forward pass. Its submodules take hooks and `patterns(contexts)`
        gives the attention patterns (see `rote.RoteModule`). `rote.from_torch` converts it back.
        """
        return RoteModule(self.spec, self.weights, self.vocabulary, self.reader)

    def with_reader(self, task: Task, keep_keys: bool = True) -> Model:
        """The model with the reader of its task's keys, and the set of stored keys unless `keep_keys` is false."""
        return replace(self, reader=KeyReader.of(task, keep_keys)) if isinstance(task, TokenTask) else self

    @property
    def dtype(self) -> torch.dtype:
        return next(tensor.dtype for tensor in self.weights.values() if tensor.is_floating_point())

    @property
    def dtype_name(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    @property
    def precision_name(self) -> str:
        """Name of what the weights are stored in: a grid's, such as int8, or the float dtype's."""
        return self.dtype_name if self.precision is None else self.precision.name

    @cached_property
    def parameters(self) -> int:
        """Counted from the tensors themselves."""
        return sum(tensor.numel() for tensor in self.weights.values() if tensor.is_floating_point())

    @property
    def bytes(self) -> int:
        """Bytes of the weights: of packed codes and scales where they are on grids."""
        if self.precision is not None:
            return self.precision.bits(self.spec.shapes()) // 8
        return sum(tensor.numel() * tensor.element_size() for tensor in self.weights.values())

    @typed
    def to(self, dtype: torch.dtype | Dtype) -> Model:
        """The same model with its parameters in another float dtype, or one named as in `DTYPES`; integers stay."""
        dtype = dtype_named(dtype) if isinstance(dtype, str) else dtype
        cast = {
            name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in self.weights.items()
        }
        return replace(self, weights=cast, precision=None)

    @torch.no_grad()
    def logits(self, inputs: Any) -> Tensor:
        """Logits for what `task.inputs` gives: token ids, or vectors in the model's dtype."""
        return forward(self.spec, self.weights, self._tensors(inputs))

    @torch.no_grad()
    def logits_in_parts(self, inputs: Any) -> Iterator[Tensor]:
        """The same logits in order, for some inputs at a time, where all of them would take much memory."""
        yield from forward_in_parts(self.spec, self.weights, self._tensors(inputs))

    def ask(self, *words: Cell, runners_up: int = 3) -> Answer:
        """The answer to one key, in words as someone would type them: `model.ask("capital", "France")`.

        Numbers, truth values, dates and times are written out as tables hold them: 7.0 is also the cell "7".

        A key that was never stored is unknown: it gets no answer instead of a confident guess.
        """
        return ask(self, words, runners_up)

    def ask_all(self, keys: Iterable[Sequence[Cell] | Cell], runners_up: int = 3) -> list[Answer]:
        """Answers to many keys, each the tuple of its cells, or the one cell it has."""
        return ask_all(self, keys, runners_up)

    def _tensors(self, inputs: Any) -> Any:
        if isinstance(inputs, tuple):
            return tuple(self._tensors(part) for part in inputs)
        if isinstance(inputs, np.ndarray):
            if inputs.ndim == 3 and len(inputs) > 1 and inputs.strides[0] == 0:
                # One context shared by all examples stays one in memory.
                return self._tensors(inputs[:1]).expand(inputs.shape)
            # A copy where numpy forbids writing: tensors know no such thing.
            inputs = torch.from_numpy(np.require(inputs, requirements=["C", "W"]))
        if not isinstance(inputs, Tensor):
            raise InputError(
                f"logits: token ids or vectors are wanted, as an array or a tensor; found {type(inputs).__name__}"
            )
        return inputs.to(self.dtype) if inputs.is_floating_point() else inputs.long()


def misfits(spec: Spec, weights: dict[str, Tensor]) -> list[str]:
    """Every difference between tensors and their specification."""
    differences = []
    floats, integers = spec.shapes(), spec.index_shapes()
    for name, shape in {**floats, **integers}.items():
        if name not in weights:
            differences.append(f"tensor {name!r} is missing")
        elif tuple(weights[name].shape) != shape:
            differences.append(f"tensor {name!r} has shape {tuple(weights[name].shape)}, expected {shape}")
        elif weights[name].is_floating_point() != (name in floats):
            differences.append(f"tensor {name!r} has dtype {weights[name].dtype}")
    differences += [f"tensor {name!r} does not belong here" for name in weights if name not in {**floats, **integers}]
    kinds = {weights[name].dtype for name in floats if name in weights}
    if len(kinds) > 1:
        differences.append(f"parameters have several dtypes: {', '.join(sorted(map(str, kinds)))}")
    for kind in kinds:
        differences += spec.refuse_dtype(str(kind).removeprefix("torch."))
    return differences
