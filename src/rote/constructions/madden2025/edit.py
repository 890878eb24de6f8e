"""Edits of a model with a neuron per fact: W_2 is solved again for the changed table, all else is kept.

Attention and the first MLP layer were drawn for the keys of the complete table, the answer codes without any fact. So
W_2 = (E - R) F^+ depends on the facts alone, F the neurons' outputs on the keys, R the residual stream before the MLP
and E the codes of the answers. Changing one answer changes W_2 by rank one, in the direction of the fact's dual vector
F^+ e_i, which is orthogonal to the keys of all other facts. Leaving a fact out gives the weights of a model that never
stored it. Neurons are added where there are more facts than neurons.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Integer
from torch import Tensor

from rote.constructions.common.more_tokens import with_vocabulary
from rote.constructions.common.neurons import random_neurons
from rote.constructions.common.random_attention.draw import gaussian
from rote.constructions.construction import Draft, EditRequest
from rote.constructions.madden2025.sizes import NeuronOptions
from rote.constructions.madden2025.solve import output_matrix, streams
from rote.errors import CheckFailed, InputError
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model
from rote.tasks.changes import final

CANDIDATES = 64
"""Directions tried for the code of a new answer."""


def edit(request: EditRequest[NeuronOptions]) -> Draft:
    """Solve W_2 for the changed facts, with erased ones at logits of zero."""
    after = request.after
    model = _with_codes(with_vocabulary(request.model, after.vocabulary), request)
    spec = _layer(model)
    contexts = torch.from_numpy(after.contexts).long()
    code = model.weights["unembed"].double()
    wanted = code[torch.from_numpy(after.answers).long()]
    if erased := _erased(request):
        contexts = torch.cat([contexts, torch.tensor(erased)])
        wanted = torch.cat([wanted, torch.zeros(len(erased), spec.dim, dtype=torch.float64)])
    if not len(contexts):
        raise InputError("nothing would be left: a model holds at least one fact")
    added = max(0, len(contexts) - spec.width)
    if added:
        model = _with_neurons(model, added, contexts, request.request.seed)
        spec = _layer(model)
    with request.progress.stage("solving for the MLP"):
        solved = output_matrix(spec, model.weights, contexts, wanted)
    if solved.rank < len(contexts):
        raise CheckFailed(
            f"the neurons have rank {solved.rank} on {len(contexts):,} keys, so that these facts cannot be told apart; "
            "build the model again from the changed table, with a larger `spare` if more edits are to come"
        )
    weights = {**model.weights, "layers.0.mlp_out": solved.outer.to(model.dtype).contiguous()}
    measured = {"method": "edit", "neurons": spec.width, "neurons_added": added, "condition": solved.condition}
    return Draft(replace(model, weights=weights), spec.width, measured)


def _layer(model: Model) -> MlpTransformer:
    spec = model.spec
    if not isinstance(spec, MlpTransformer) or spec.layers > 1:
        raise InputError("only one layer of attention with an MLP is edited by its output matrix")
    return spec


def _erased(request: EditRequest[NeuronOptions]) -> list[list[int]]:
    """Keys whose logits are to be zero."""
    index = request.after.vocabulary.index
    together = final((*request.history, *request.changes))
    return [[index[token] for token in key] for key, change in together.items() if change.forget == "erased"]


def _with_codes(model: Model, request: EditRequest[NeuronOptions]) -> Model:
    """The model with a row of W_U for every answer that is new: of many random directions the one farthest from all."""
    unembed = model.weights["unembed"].clone()
    new = range(len(request.before.vocabulary), len(unembed))
    if not new:
        return model
    known = unembed[: new.start].double()
    length = known.norm(dim=1).median()
    codes = torch.nn.functional.normalize(known, dim=1)
    for token in new:
        generator = torch.Generator().manual_seed(request.request.seed * 65_537 + token)
        drawn = torch.nn.functional.normalize(gaussian((CANDIDATES, codes.shape[1]), generator), dim=1)
        code = drawn[(drawn @ codes.T).amax(1).argmin()]
        unembed[token] = (code * length).to(unembed.dtype)
        codes = torch.cat([codes, code[None]])
    return replace(model, weights={**model.weights, "unembed": unembed})


def _with_neurons(model: Model, count: int, contexts: Integer[Tensor, "rows context"], seed: int) -> Model:
    """The model with further random neurons whose output is zero."""
    spec, weights = _layer(model), dict(model.weights)
    generator = torch.Generator().manual_seed(seed * 65_537 + spec.width)
    drawn = random_neurons(streams(spec, weights, contexts).double(), count, generator)
    for name, more in (("layers.0.mlp_in", drawn.inner), ("layers.0.mlp_bias", drawn.bias)):
        weights[name] = torch.cat([weights[name], more.to(model.dtype)])
    weights["layers.0.mlp_out"] = torch.nn.functional.pad(weights["layers.0.mlp_out"], (0, count))
    return Model(spec.model_copy(update={"width": spec.width + count}), weights, model.vocabulary)
