"""Models of rote for Hugging Face transformers: loads with `trust_remote_code=True`, needs torch and not rote.

Tensors have the names of a rote model folder. An architecture is a function from tensors and token ids to logits at
every position that can be asked; the specification in `config.spec` says which, and with what sizes.
"""

import math

import torch
from torch import nn
from torch.nn import functional
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput


class RoteConfig(PretrainedConfig):
    model_type = "rote"

    def __init__(self, spec=None, shapes=None, index_shapes=None, **kwargs):
        self.spec = spec or {}
        self.shapes = shapes or {}
        self.index_shapes = index_shapes or {}
        self.vocab_size = kwargs.pop("vocab_size", self.spec.get("vocab", 0))
        self.num_hidden_layers = self.spec.get("layers", 1)
        self.use_cache = False
        super().__init__(**kwargs)


class RoteForCausalLM(PreTrainedModel, GenerationMixin):
    config_class = RoteConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__(config)
        for name, shape in config.shapes.items():
            self._owner(name).register_parameter(name.rsplit(".", 1)[-1], nn.Parameter(torch.zeros(*shape)))
        for name, shape in config.index_shapes.items():
            zeros = torch.zeros(*shape, dtype=torch.int64)
            self._owner(name).register_buffer(name.rsplit(".", 1)[-1], zeros)
        self.post_init()

    def _owner(self, name):
        """The nested module that holds a tensor, made where it is missing."""
        owner = self
        for part in name.split(".")[:-1]:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]
        return owner

    def _init_weights(self, module):
        """Weights come from the checkpoint."""

    def forward(self, input_ids, attention_mask=None, labels=None, **kwargs):
        spec, length = self.config.spec, input_ids.shape[1]
        if length > spec["context"]:
            raise ValueError(f"{length} tokens, but this model reads {spec['context']}")
        if int(input_ids.max()) >= spec["vocab"]:
            raise ValueError("a word that this model does not know; it reads the keys of its facts")
        logits = ARCHITECTURES[spec["architecture"]](spec, self.state_dict(keep_vars=True), input_ids)
        # The tokenizer has special tokens after the model's own, which are never answers.
        special = self.config.vocab_size - spec["vocab"]
        logits = functional.pad(logits, (0, special), value=torch.finfo(logits.dtype).min)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return CausalLMOutput(loss=loss, logits=logits)

    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return {"input_ids": input_ids}


def transformer(spec, weights, ids):
    """Attention-only Transformers and those with MLPs, at every position (causal)."""
    length = ids.shape[1]
    compressed = spec.get("variant") == "shared" and spec["dim"] != spec["head_dim"]
    scale = spec["head_dim"] ** -0.5 if spec["scale_scores"] else 1.0
    later = torch.ones(length, length, dtype=torch.bool, device=ids.device).triu(1)
    x = weights["tokens"][ids]
    for number in range(spec["layers"]):
        part = f"layers.{number}."
        read = x @ weights["compress"].T if compressed else x
        if spec["positions"] == "attention":
            read = read + weights["positions"][:length]
        elif compressed:
            read = read + weights[part + "positions"][:length]
        elif number == 0 or spec["positions"] == "every-layer":
            read = x = x + weights["positions" if number == 0 else part + "positions"][:length]
        query, key, value = (
            torch.einsum("hkd,bsd->bhsk", weights[part + name], read) for name in ("query", "key", "value")
        )
        scores = (query @ key.transpose(-1, -2) * scale).masked_fill(later, -math.inf)
        mixed = torch.einsum("hdk,bhsk->bsd", weights[part + "output"], scores.softmax(-1) @ value)
        x = x + (mixed @ weights["decompress"].T if compressed else mixed)
        if spec.get("width"):
            neurons = x @ weights[part + "mlp_in"].T + weights[part + "mlp_bias"]
            neurons = functional.gelu(neurons) if spec["activation"] == "gelu" else neurons.relu()
            x = x + neurons @ weights[part + "mlp_out"].T
    return x @ weights["unembed"].T


def looked_up(spec, weights, ids):
    """The row of the key table that equals each context; what the row is multiplied by depends on the architecture."""
    matches = [(weights["keys"] == key).all(1).nonzero().flatten() for key in ids]
    if any(len(rows) != 1 for rows in matches):
        raise ValueError("a key that this model does not know; it answers the keys of its facts alone")
    rows = torch.cat(matches)
    if spec["architecture"] == "linear-memory":
        last = weights["inputs"][rows] @ weights["memory"].T @ weights["unembed"].T
    else:
        last = weights["encodings"][rows] @ weights["unembed"].T
    return last_only(last, ids.shape[1])


def deep_relu(spec, weights, ids):
    """Layers of ReLUs before and after one layer of uniform attention."""
    if spec["input"] == "table":
        places = torch.arange(ids.shape[1], device=ids.device)
        entered = weights["table"][places if spec["ordered"] else 0 * places, ids]
    else:
        entered = weights["tokens"][ids]
        entered = entered + weights["positions"] if spec["ordered"] else entered
    state = entered.new_zeros(*ids.shape, spec["width"])
    state[..., 0] = entered
    if spec["layers_before"]:
        state = relu_layers(weights["before.weight"], weights["before.bias"], state)
    asking = state if spec["every_position"] else state[:, -1:]
    values = state @ weights["attention.value"].T
    if spec["mixing"] == "sum":
        mixed = values.sum(1, keepdim=True)
    else:
        queries, keys = asking @ weights["attention.query"].T, state @ weights["attention.key"].T
        mixed = (queries @ keys.transpose(1, 2)).softmax(-1) @ values
    state = asking + mixed @ weights["attention.output"].T
    state = relu_layers(weights["after.weight"], weights["after.bias"], state)
    logits = state[..., :1] * weights["unembed.weight"] + weights["unembed.bias"]
    return logits if spec["every_position"] else last_only(logits[:, -1], ids.shape[1])


def relu_layers(weight, bias, state):
    for matrix, offset in zip(weight, bias, strict=True):
        state = functional.linear(state, matrix, offset).relu()
    return state


def last_only(logits, length):
    """Logits that exist at the last position alone; zeros before it."""
    return functional.pad(logits[:, None], (0, 0, length - 1, 0))


ARCHITECTURES = {
    "attention-only": transformer,
    "mlp-transformer": transformer,
    "sequence-encoder": looked_up,
    "linear-memory": looked_up,
    "deep-relu": deep_relu,
}
