"""`huben2023`: an MLP memory with a SiLU neuron per fact, as an attention-only model of two layers.

The theorem (see `huben2023`) needs a position at which every neuron reads zero. Token contexts have none to spare, so
the first position is made to rest. The stream is (content, gathered, flags): content x is token plus position, flags
mark the last position and those between it and the first. Heads of the first layer read content and write gathered
numbers,

    g = sum_h o_h v_h . A^h(t)    at the last position,      g = sum_h o_h v_h . x_1 = M x_1    at the first,

where causal attention sees nothing but itself. So u = g - M x is zero at the first position for every token, and at
the last one depends on the complete context. Neurons read u: in the second layer the head of neuron i scores its own
position with w_i . u + b_i, the first one with 0 and those between with a large negative number. Only the last position
is asked for the answer, hence one-dimensional heads suffice: the mask is a flag, not a unit vector per position.
"""

from __future__ import annotations

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.huben2023.options import FLAGS, ID, MemoryOptions
from rote.errors import problems
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.theory.huben2023 import huben_spec


def build(request: Request[AssociationTask, MemoryOptions]) -> Draft:
    """Random first layer, random neurons, and a linear solve for what the neurons' heads write."""
    from rote.constructions.huben2023.heads import solve_heads

    return solve_heads(request, request.task.majority(), layers_for(request))


def layers_for(request: Request[AssociationTask, MemoryOptions]) -> AttentionOnly:
    """Two layers with a head per fact in each."""
    task = request.task.majority()
    spec, refused = huben_spec(task.shape, request.dim, request.heads), []
    if request.head_dim not in (None, 1):
        refused.append(f"`head_dim={request.head_dim}`: one head is one neuron, hence one number; leave it out")
    if spec.dim < FLAGS + 4:
        refused.append(
            f"`dim={spec.dim}`: content, gathered numbers and flags take two dimensions each; give 6 or more"
        )
    if spec.heads < task.facts:
        refused.append(f"`heads={spec.heads}`: each is a neuron, and {task.facts} facts need {task.facts} of them")
    if refused:
        raise problems(ID, refused)
    return spec


def size_may_differ(request: Request[AssociationTask, MemoryOptions]) -> str:
    return f"as many neurons as facts: whether {request.dtype} carries the solve is seen when it is made"


register_construction(
    Construction(
        id=ID,
        summary="an MLP memory as attention heads: a SiLU neuron per fact, a head per neuron, two layers",
        paper="huben2023",
        passage="with neurons as in Madden, Fox, Thrampoulidis 2025",
        meets="huben2023.neurons",
        tasks=(AssociationTask,),
        build=build,
        edit=rebuilt_by(ID),
        spec=layers_for,
        size_may_differ=size_may_differ,
        quick_facts=1_500,
        options=MemoryOptions,
    )
)
