"""Madden, Fox and Thrampoulidis 2025: one layer with m MLP neurons stores at least m contexts.

Random attention makes contexts distinct, a random first MLP layer makes their neurons independent, and one linear
solve for the MLP's output matrix W_2 then puts the residual stream of every context where it should be:

    r(t) + W_2 sigma(W_1 r(t) + b) = E(t),      logits(t) = W_U E(t),

r(t) the stream after attention. For associations E(t) is the answer's code, in any dim from 2 on. For distributions
W_U E(t) must be log pi_t up to a shift, at will only if dim >= vocab - 1: below that W_U has too small a rank for any
number of neurons (Proposition 2 of Dana et al. 2025). Notation: m is `width`.
"""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, EditRequest, Request, register_construction
from rote.constructions.madden2025.sizes import NeuronOptions, neurons_spec, solve_may_fail
from rote.errors import InputError
from rote.models.mlp_transformer import MlpTransformer
from rote.tasks import AssociationTask
from rote.theory.sizes import COMFORTABLE_DIM


def layer_for(request: Request[AssociationTask, NeuronOptions]) -> MlpTransformer:
    """A neuron per fact, in dim 20 unless another is given."""
    task = request.task.majority()
    spec = neurons_spec(request, task.facts, request.dim or COMFORTABLE_DIM)
    if spec.dim == 1 and task.shape.answers > 2:
        raise InputError(f"madden2025: `dim=1` has room for two answers, not {task.shape.answers}; give 2 or more")
    return spec


def build(request: Request[AssociationTask, NeuronOptions]) -> Draft:
    """As many facts as neurons, by their answers' codes."""
    import torch

    from rote.constructions.common.random_attention.codes import answer_code
    from rote.constructions.madden2025.solve import solve
    from rote.models.model import dtype_named

    task, spec = request.task.majority(), layer_for(request)
    generator = torch.Generator().manual_seed(request.seed)
    # As it is saved, so that an edit finds the same targets in the model's own W_U.
    code = answer_code(task.vocab, spec.dim, generator).to(dtype_named(request.dtype)).double()
    contexts = torch.from_numpy(task.contexts).long()
    return solve(request, spec, contexts, code, code[torch.from_numpy(task.answers).long()], generator)


def edit(request: EditRequest[NeuronOptions]) -> Draft:
    """Change, add and forget facts by another solve for W_2."""
    from rote.constructions.madden2025.edit import edit as solved_again

    return solved_again(request)


register_construction(
    Construction(
        id="madden2025",
        summary="one attention layer and an MLP with a neuron per fact: random but for one linear solve",
        paper="madden2025",
        meets="madden2025.lower",
        tasks=(AssociationTask,),
        build=build,
        edit=edit,
        spec=layer_for,
        size_may_differ=solve_may_fail,
        quick_facts=3_000,
        options=NeuronOptions,
    )
)
