"""A model as a `torch.nn.Module`: hooks, gradients, attention patterns, deep copies, optimisers, `torch.export`."""

from __future__ import annotations

from torch import Tensor, nn

from rote.models.attention_only import Transformer
from rote.models.forward import forward
from rote.models.spec import Spec
from rote.tasks.key_reader import KeyReader
from rote.tasks.vocabulary import Vocabulary

SEEN = ("attention", "stream")
"""Hook points of a layer: its attention patterns, and the residual stream after it."""


class RoteModule(nn.Module):
    """Parameters named as in a model folder around the one forward pass that rote has.

    The names have dots in them (`layers.0.query`), so a tensor belongs to nested plain modules,
    and `state_dict()` gives exactly the tensors of `model.safetensors`. Integer tensors are buffers.

    In attention-only models and those with an MLP the submodules `layers.0.attention` (patterns: batch x heads x
    position x context) and `layers.0.stream` (the residual stream after the layer: batch x position x dim) see what
    flows through them: a forward hook reads it, and what the hook returns flows on in its place. The last layer asks at
    the last position alone, since nothing else of it is read.

    >>> import torch, rote
    >>> module = rote.build("random:vocab=6,context=2,facts=9,seed=1").model.to_torch()
    >>> contexts = torch.tensor([[0, 1], [2, 3]])
    >>> module(contexts).logsumexp(1).sum().backward()
    >>> module.get_parameter("layers.0.query").grad is not None
    True
    >>> module.patterns(contexts)[0].shape[2:]  # last position x context
    torch.Size([1, 2])
    >>> handle = module.get_submodule("layers.0.stream").register_forward_hook(lambda point, _, stream: 0 * stream)
    >>> module(contexts).detach().abs().max()
    tensor(0.)
    """

    def __init__(
        self,
        spec: Spec,
        weights: dict[str, Tensor],
        vocabulary: Vocabulary | None = None,
        reader: KeyReader | None = None,
    ) -> None:
        super().__init__()
        self.spec, self.vocabulary, self.reader = spec, vocabulary, reader
        for name, tensor in weights.items():
            owner, leaf = self._owner(name)
            if tensor.is_floating_point():
                owner.register_parameter(leaf, nn.Parameter(tensor.detach().clone()))
            else:
                owner.register_buffer(leaf, tensor.clone())
        layers = spec.layers if isinstance(spec, Transformer) else 0
        for name in (f"layers.{layer}.{seen}" for layer in range(layers) for seen in SEEN):
            owner, leaf = self._owner(name)
            owner.add_module(leaf, nn.Identity())

    def _owner(self, name: str) -> tuple[nn.Module, str]:
        """The module that a dotted name belongs to, made where there is none, and the name there."""
        *path, leaf = name.split(".")
        owner: nn.Module = self
        for part in path:
            if part not in dict(owner.named_children()):
                owner.add_module(part, nn.Module())
            owner = owner.get_submodule(part)
        return owner, leaf

    def forward(self, contexts: Tensor, queries: Tensor | None = None) -> Tensor:
        """Logits for token ids (batch x context), or for contexts and queries where the model reads vectors."""
        inputs = contexts if queries is None else (contexts, queries)
        hooked = any(isinstance(part, nn.Identity) and _hooked(part) for part in self.modules())
        return forward(self.spec, self.state_dict(keep_vars=True), inputs, self._tap if hooked else None)

    def patterns(self, contexts: Tensor) -> list[Tensor]:
        """Attention patterns, one tensor (batch x heads x position x context) per layer."""
        seen: list[Tensor] = []

        def tap(name: str, tensor: Tensor) -> Tensor:
            flowing = self._tap(name, tensor)
            if name.endswith(".attention"):
                seen.append(flowing)
            return flowing

        forward(self.spec, self.state_dict(keep_vars=True), contexts, tap)
        return seen

    def _tap(self, name: str, tensor: Tensor) -> Tensor:
        return self.get_submodule(name)(tensor)


def _hooked(module: nn.Module) -> bool:
    return any((module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks))
