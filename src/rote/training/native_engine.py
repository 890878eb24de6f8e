"""The native engine: one model per call; forward pass, gradient and Adam fused, in the widest vectors of the CPU.

Calls release the interpreter's lock, so that threads train one model each.
"""

from __future__ import annotations

import ctypes
import warnings
from functools import lru_cache

import numpy as np

from rote.errors import InputError, RoteError
from rote.models.attention_only import Transformer
from rote.training.native import library_path
from rote.training.objective import AdamSettings, AdamState, Evaluation
from rote.training.problem import TrainingProblem

INTERFACE = 4
LAYOUTS = {"auto": 0, "grid": 1, "list": 2}
POSITIONS = {"stream": 0, "every-layer": 1, "attention": 2}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None if it was not built or has another version."""
    path = library_path()
    if path is None:
        return None
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError:
        return None
    if loaded.rote_interface() != INTERFACE:
        return None
    pointer, integer, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
    loaded.rote_open.argtypes = [integer, pointer, pointer, long, *[pointer] * 5, integer]
    loaded.rote_open.restype = pointer
    loaded.rote_close.argtypes = [pointer]
    loaded.rote_close.restype = None
    loaded.rote_gradient.argtypes = [pointer, pointer, pointer, pointer, integer, ctypes.c_float, pointer]
    loaded.rote_adam.argtypes = [
        *[pointer] * 4, long, long, pointer, pointer, *[ctypes.c_double] * 3, pointer, integer, pointer, pointer,
    ]  # fmt: skip
    loaded.rote_adam.restype = long
    loaded.rote_predict.argtypes = [pointer, pointer, pointer]
    return loaded


def lanes() -> list[int]:
    """Vector widths (floats) of this CPU, widest first; empty without the library."""
    loaded = library()
    return [] if loaded is None else [width for width in (16, 8, 4) if loaded.rote_runs(width)]


def available(required: bool = False) -> bool:
    """True if the native engine runs here; otherwise an error if it is `required`, else a warning."""
    if library() is not None:
        return True
    if required:
        raise InputError(
            "`engine=native`: the native engine is not built here; install rote where there is a C++ compiler, "
            "or use `engine=torch`"
        )
    _say_slower()
    return False


@lru_cache(maxsize=1)
def _say_slower() -> None:
    """Warn once per process, however many models are trained."""
    warnings.warn(
        "the native engine is not built here: training runs on the torch engine, several times slower "
        "(install rote where there is a C++ compiler to have it built)",
        RuntimeWarning,
        stacklevel=4,
    )


class NativeObjective:
    """The objective of one model. `width` and `layout` are chosen by the library unless a test says otherwise."""

    def __init__(
        self,
        spec: Transformer,
        problem: TrainingProblem,
        weights: np.ndarray,
        width: int | None = None,
        layout: str = "auto",
    ) -> None:
        self.spec, self.problem = spec, problem
        loaded = library()
        if loaded is None:
            raise InputError("`engine=native`: the native engine is not built here; use `engine=torch`")
        self._library = loaded
        width = lanes()[0] if width is None else width
        self.engine = f"native ({width} lanes)"
        attention = spec.attention
        shape = np.array(
            [
                spec.vocab,
                spec.context,
                spec.dim,
                attention.rank,
                spec.head_dim,
                spec.heads,
                spec.width,
                attention.compressed,
                spec.scale_scores,
                spec.width > 0 and spec.activation == "gelu",
                spec.layers,
                POSITIONS[spec.positions],
            ],
            dtype=np.int32,
        )
        given = (
            np.ascontiguousarray(problem.contexts, np.int32),
            np.ascontiguousarray(weights, np.float32),
            np.ascontiguousarray(problem.starts, np.int64),
            np.ascontiguousarray(problem.tokens, np.int32),
            np.ascontiguousarray(problem.probabilities, np.float32),
            np.ascontiguousarray(problem.answers, np.int32),
        )
        contexts, *rest = (array.ctypes.data for array in given)
        self._handle = loaded.rote_open(width, shape.ctypes.data, contexts, len(problem), *rest, LAYOUTS[layout])
        if not self._handle:
            raise RoteError("the native engine could not be opened: out of memory, or the CPU lacks these vectors")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.rote_close(self._handle)
            self._handle = None

    def gradient(self, flat: np.ndarray, rows: np.ndarray | None = None, focus: np.ndarray | None = None) -> Evaluation:
        parameters = self._of_one_model(flat)
        gradient, out = np.empty_like(parameters), np.empty(3)
        chosen = 0.0 if focus is None else float(focus[0])
        batch, where, kept = _rows(rows)
        self._check(
            self._library.rote_gradient(
                self._handle, parameters.ctypes.data, gradient.ctypes.data, where, batch, chosen, out.ctypes.data
            )
        )
        del kept
        return Evaluation(out[:1].astype(np.float32), out[1:2].astype(np.float32), gradient[None], out[2:])

    def adam_steps(
        self,
        state: AdamState,
        rates: np.ndarray,
        rows: np.ndarray | None,
        settings: AdamSettings,
        focus: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        moved = [self._of_one_model(part) for part in (state.flat, state.first, state.second)]
        rates = np.ascontiguousarray(rates, np.float32)
        focus = np.zeros_like(rates) if focus is None else np.ascontiguousarray(focus[0], np.float32)
        losses = np.full((1, len(rates)), np.nan, np.float32)
        shares = np.zeros((1, len(rates)), np.float32)
        batch, where, kept = _rows(rows)
        taken = self._library.rote_adam(
            self._handle,
            *(part.ctypes.data for part in moved),
            state.steps,
            len(rates),
            rates.ctypes.data,
            focus.ctypes.data,
            settings.beta1,
            settings.beta2,
            settings.epsilon,
            where,
            batch,
            losses.ctypes.data,
            shares.ctypes.data,
        )
        del kept
        self._check(taken)
        for whole, part in zip((state.flat, state.first, state.second), moved, strict=True):
            whole[0] = part
        state.steps += int(taken)
        return losses, shares

    def predictions(self, flat: np.ndarray) -> np.ndarray:
        parameters = self._of_one_model(flat)
        out = np.empty((1, len(self.problem)), np.int32)
        self._check(self._library.rote_predict(self._handle, parameters.ctypes.data, out.ctypes.data))
        return out

    def only(self, model: int) -> NativeObjective:
        return self

    def _of_one_model(self, flat: np.ndarray) -> np.ndarray:
        if flat.shape != (1, self.spec.parameters()):
            raise InputError(
                f"the native engine holds one model of {self.spec.parameters()} parameters, not {flat.shape}"
            )
        return np.ascontiguousarray(flat[0], np.float32)

    @staticmethod
    def _check(code: int) -> None:
        if code < 0:
            raise RoteError("the native engine ran out of memory; train smaller models or fewer at once (`workers`)")


def _rows(rows: np.ndarray | None) -> tuple[int, int | None, np.ndarray | None]:
    """Batch size, address and the array that must outlive the call."""
    if rows is None:
        return 0, None, None
    kept = np.ascontiguousarray(rows[0], np.int32)
    return kept.shape[-1], kept.ctypes.data, kept
