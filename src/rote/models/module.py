"""A model as a `torch.nn.Module`: hooks, gradients, deep copies, optimisers, `torch.export`."""

from __future__ import annotations

from torch import Tensor, nn

from rote.models.forward import forward
from rote.models.spec import Spec
from rote.tasks.key_reader import KeyReader
from rote.tasks.vocabulary import Vocabulary


class RoteModule(nn.Module):
    """Parameters named as in a model folder around the one forward pass that rote has.

    The names have dots in them (`layers.0.query`), so a tensor belongs to nested modules without code of their own,
    and `state_dict()` gives exactly the tensors of `model.safetensors`. Integer tensors are buffers.
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
            *path, leaf = name.split(".")
            owner: nn.Module = self
            for part in path:
                if part not in dict(owner.named_children()):
                    owner.add_module(part, nn.Module())
                owner = owner.get_submodule(part)
            if tensor.is_floating_point():
                owner.register_parameter(leaf, nn.Parameter(tensor.detach().clone()))
            else:
                owner.register_buffer(leaf, tensor.clone())

    def forward(self, contexts: Tensor, queries: Tensor | None = None) -> Tensor:
        """Logits for token ids (batch x context), or for contexts and queries where the model reads vectors."""
        inputs = contexts if queries is None else (contexts, queries)
        return forward(self.spec, self.state_dict(keep_vars=True), inputs)
