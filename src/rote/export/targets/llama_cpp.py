"""`gguf`: the plain Llama checkpoint for llama.cpp, in one file with its vocabulary.

llama.cpp reads text by cutting it at the words of its vocabulary, longest first, so that every part of a key is a word
of its own: `capital ` and `France`, the space belonging to the first. Where a token may stand at several places the
place is written before it, `1:J 2:F 3:K`, for a Llama has no other way to know it.

`format` names one of GGUF's formats of few bits (Q8_0, Q4_0, ...; `common.gguf_blocks`) for every matrix that is
multiplied with: queries, keys, values, outputs and the unembedding. Models that were built on a grid are held by Q8_0,
Q5_0 and Q4_0 exactly. Embeddings stay in float32, for they hold the norm's constant beside x.

No permutation of queries and keys is needed, as nothing turns. The cache of keys and values is float32 unless float16
is asked for, which llama.cpp takes by itself where a user says nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from rote.export.certificate import Condition
from rote.export.common.gguf_blocks import FORMATS
from rote.export.common.half_cache import half_conditions, within_half
from rote.export.common.norm_trick import ROUNDING, constant_for, largest_square_of, norm_conditions
from rote.export.common.normal_form import normal_form, refuse_other_architectures
from rote.export.common.places import Pairs, inputs_of, pairs_of
from rote.export.common.temperature import gain_for
from rote.export.requirement import Requirement
from rote.export.runtime import Runtime
from rote.export.subject import ExportSubject
from rote.export.target import Manifest, Target
from rote.export.targets.gguf_state import BlockState
from rote.export.targets.llama import TURN_DIVISOR, LlamaShape, llama_state
from rote.models.attention_only import Transformer
from rote.tasks.spelling import Spelling
from rote.tasks.vocabulary import PAD, SEPARATOR

FILE = "model.gguf"
SPECIAL = ("<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)))
"""llama.cpp wants these, bytes included, in every vocabulary of this kind."""
NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "input_layernorm.weight": "attn_norm.weight",
    "self_attn.q_proj.weight": "attn_q.weight",
    "self_attn.k_proj.weight": "attn_k.weight",
    "self_attn.v_proj.weight": "attn_v.weight",
    "self_attn.o_proj.weight": "attn_output.weight",
    "post_attention_layernorm.weight": "ffn_norm.weight",
    "mlp.gate_proj.weight": "ffn_gate.weight",
    "mlp.up_proj.weight": "ffn_up.weight",
    "mlp.down_proj.weight": "ffn_down.weight",
}
LIKELIEST = 8
"""Tokens whose probabilities are requested; a fact whose answer is not among them is missed."""


class LlamaCpp(Target):
    """One file that llama.cpp and everything built on it opens."""

    id: ClassVar[str] = "gguf"
    summary: ClassVar[str] = "GGUF file for llama.cpp"
    requirements: ClassVar[tuple[Requirement, ...]] = (
        Requirement("gguf", "gguf", "0.10"),
        Requirement("xllamacpp", "xllamacpp", "2026.1"),
    )
    extra: ClassVar[str | None] = "gguf"
    data: ClassVar[tuple[str, ...]] = (FILE,)
    caches: ClassVar[tuple[str, ...]] = ("float32", "float16")
    formats: ClassVar[tuple[str, ...]] = FORMATS

    def refusals(self, subject: ExportSubject) -> list[str]:
        reasons = refuse_other_architectures("llama.cpp", subject.model)
        spec = subject.model.spec
        if isinstance(spec, Transformer) and spec.width:
            reasons.append("llama.cpp's Llama has SiLU neurons and no others; export MLP models to llama or gpt2")
        if reasons:
            return reasons
        names = token_texts(subject.spelling, subject.contexts, pairs_of(subject.contexts))
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            reasons.append(f"the text {twice[0]!r} would stand for two tokens; rename one")
        return reasons

    def write(self, subject: ExportSubject, folder: Path) -> Manifest:
        pairs = pairs_of(subject.contexts)
        texts = token_texts(subject.spelling, subject.contexts, pairs)
        inputs = set(inputs_of(subject.contexts, pairs, len(subject.spelling.tokens)).values())
        if subject.format is not None:
            blocked = BlockState.of(subject, subject.format, len(texts))
            state = blocked.state | blocked.encoded
            _write_gguf(folder / FILE, state, blocked.shape, subject.spelling.context, texts, inputs, subject.format)
            return Manifest(self.id, blocked.gain, pairs, format=subject.format)
        gain, contexts = gain_for(subject), torch.from_numpy(subject.contexts)
        form = within_half(normal_form(subject.model), contexts)
        shape = LlamaShape.of(form, "mistral")
        constant = constant_for(largest_square_of(form, subject))
        state = llama_state(form, shape, subject, pairs, len(texts), gain, constant)
        _write_gguf(folder / FILE, state, shape, subject.spelling.context, texts, inputs)
        return Manifest(self.id, gain, pairs)

    def open(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> Runtime:
        return LlamaCppRuntime(folder / FILE, subject, manifest)

    def conditions(self, folder: Path, subject: ExportSubject, manifest: Manifest) -> tuple[Condition, ...]:
        from gguf import GGUFReader

        reader = GGUFReader(folder / FILE)
        embeddings = next(tensor for tensor in reader.tensors if tensor.name == "token_embd.weight").data
        shared = (embeddings == embeddings[0]).all(0) & (embeddings[0] != 0)
        angle = subject.spelling.context / float(reader.fields["llama.rope.scaling.factor"].parts[-1][0])
        form = normal_form(subject.model)
        half = manifest.cache == "float16"
        return (
            *norm_conditions(form, subject, torch.from_numpy(embeddings[0][shared].copy())),
            Condition(name="largest rotary angle", value=angle, below=ROUNDING),
            *(half_conditions(form, torch.from_numpy(subject.contexts)) if half else ()),
        )


def token_texts(spelling: Spelling, contexts: np.ndarray, pairs: Pairs | None) -> list[str]:
    """The text of every id: the model's tokens, those at places, the special ones."""
    names = list(spelling.tokens)
    last = spelling.context - 1
    if pairs is None:
        for position, column in enumerate(contexts.T[:-1]):
            for token in np.unique(column):
                names[token] = part_text(spelling, token, position, False) + " "
        return [*names, *SPECIAL]
    tagged = [part_text(spelling, token, position, True) + " " * (position < last) for token, position in pairs]
    return [*names, *tagged, *SPECIAL]


def part_text(spelling: Spelling, token: int, position: int, tagged: bool) -> str:
    text = spelling.tokens[token]
    if spelling.keys != "words":
        text = {PAD: "_", SEPARATOR: "|"}.get(text, text)
    return f"{position + 1}:{text}" if tagged else text


def prompt(spelling: Spelling, key: Sequence[int], tagged: bool) -> str:
    """A key as llama.cpp reads it."""
    return " ".join(part_text(spelling, token, position, tagged) for position, token in enumerate(key))


def _write_gguf(
    path: Path,
    state: Mapping[str, Tensor | np.ndarray],
    shape: LlamaShape,
    context: int,
    texts: list[str],
    inputs: set[int],
    format: str | None = None,
) -> None:
    import gguf

    layers = sum(name.endswith("q_proj.weight") for name in state)

    ordinary = len(texts) - len(SPECIAL)
    kinds = [gguf.TokenType.USER_DEFINED if row in inputs else gguf.TokenType.NORMAL for row in range(ordinary)]
    kinds += [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("rote")
    writer.add_context_length(max(64, context + 1))
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(shape.width)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(TURN_DIVISOR)
    writer.add_layer_norm_rms_eps(1e-6)
    kind = "ALL_F32" if format is None else "MOSTLY_MXFP4_MOE" if format == "MXFP4" else f"MOSTLY_{format}"
    writer.add_file_type(gguf.LlamaFileType[kind])
    writer.add_vocab_size(len(texts))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([-1000.0] * len(texts))
    writer.add_token_types(kinds)
    # Named, for otherwise ids 1 and 2, which are facts' own, are taken for the ends of a text.
    writer.add_unk_token_id(ordinary)
    writer.add_bos_token_id(ordinary + 1)
    writer.add_eos_token_id(ordinary + 2)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    for name, tensor in state.items():
        layer = re.fullmatch(r"model\.layers\.(\d+)\.(.*)", name)
        given = NAMES[name] if layer is None else f"blk.{layer[1]}.{NAMES[layer[2]]}"
        if isinstance(tensor, np.ndarray):
            writer.add_tensor(given, tensor, raw_dtype=gguf.GGMLQuantizationType[str(format)])
        else:
            writer.add_tensor(given, np.ascontiguousarray(tensor.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCppRuntime(Runtime):
    """llama.cpp in this process, every fact a completion of one token.

    As its server does by itself, it keeps what it has read of the question before: keys that begin alike share that.
    """

    def __init__(self, path: Path, subject: ExportSubject, manifest: Manifest) -> None:
        from gguf import GGUFReader

        # Compiled code without types.
        xllamacpp: Any = import_module("xllamacpp")
        reader = GGUFReader(path)
        fields = reader.fields["tokenizer.ggml.tokens"]
        self._names = [bytes(fields.parts[part]).decode("utf-8") for part in fields.data]
        self.parameters = sum(int(np.prod(tensor.shape)) for tensor in reader.tensors)
        self.vocab = len(self._names)
        self.versions = {name: version(name) for name in ("gguf", "xllamacpp")}
        self.dtype, self.cache_dtype = manifest.format or "float32", manifest.cache
        self.gain = manifest.gain
        self.places = manifest.ids(len(subject.spelling.tokens))
        self._spelling = subject.spelling
        self._server: Any = xllamacpp.Server(_parameters(xllamacpp, path, manifest.cache, self._spelling.context))
        self._address = str(self._server.listening_address)
        # The second question about a key then reads its last token alone.
        self.rows = 1

    def prompts(self, texts: Sequence[str]) -> list[str]:
        keys = [self._spelling.ids(text) for text in texts]
        return [prompt(self._spelling, key, self.places is not None) for key in keys]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._post("tokenize", {"content": text})["tokens"] for text in self.prompts(texts)]

    def words(self, tokens: Sequence[int]) -> list[str]:
        return [_alone(self._names[token]) for token in tokens]

    def logits(self, ids: Tensor) -> Tensor:
        raise NotImplementedError("llama.cpp gives probabilities of the likeliest tokens, which margins are made of")

    def margins(self, ids: Tensor, answers: Tensor) -> Tensor:
        """At a temperature equal to the gain, where probabilities are those of the model's own logits."""
        margins = [self._margin(key, answer) for key, answer in zip(ids.tolist(), answers.tolist(), strict=True)]
        return torch.tensor(margins, dtype=torch.float64)

    def generated(self, texts: Sequence[str]) -> list[str]:
        return [_alone(self._complete(text, temperature=0.0)["text"]) for text in self.prompts(texts)]

    def _margin(self, key: list[int], answer: int) -> float:
        choice = self._complete(
            key, temperature=self.gain, samplers=["temperature"], n_probs=LIKELIEST, post_sampling_probs=True
        )
        likeliest = {token["id"]: token["prob"] for token in choice["logprobs"]["content"][0]["top_probs"]}
        best_other = max(probability for token, probability in likeliest.items() if token != answer)
        own = likeliest.get(answer, min(likeliest.values()))
        if not best_other:
            return math.inf
        return math.log(own / best_other) if own else -math.inf

    def _complete(self, given: str | list[int], **how: Any) -> dict[str, Any]:
        asked = {"prompt": given, "n_predict": 1, "max_tokens": 1, "cache_prompt": True, "seed": 0, **how}
        return self._server.handle_completions(asked)["choices"][0]

    def _post(self, what: str, content: dict[str, Any]) -> Any:
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json"}
        request = Request(f"{self._address}/{what}", json.dumps(content).encode(), headers)
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)


def _alone(text: str) -> str:
    """A word without the space that it carries where another part of a key follows it."""
    return text.removesuffix(" ")


def _parameters(xllamacpp: Any, path: Path, cache: str | None, context: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = max(64, context + 1)
    parameters.n_parallel = 1
    parameters.n_predict = 1
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.fit_params = False
    parameters.cache_ram_mib = 0
    parameters.verbosity = -1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = torch.get_num_threads()
    kept = xllamacpp.ggml_type.GGML_TYPE_F16 if cache == "float16" else xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.cache_type_k = parameters.cache_type_v = kept
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return parameters
