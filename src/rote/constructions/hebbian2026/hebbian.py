"""Hebbian bilinear MLPs, after the released code of "MLPs are Hebbians" (COLM 2026); its text was not available.

Keys and tokens have given embeddings, here random points on a sphere. An MLP of bilinear neurons (A x) * (B x) is
followed by a readout W, the ridge regression of the answers' embeddings ("whitened": the Hebbian sum of outer products
times the inverse of the neurons' covariance).

- `hebbian2026.whitened`: A and B are random.
- `hebbian2026.data_dependent`: B, then A, is fitted by least squares so that the Hebbian readout's products with the
  answers of all facts are the identity matrix, before W is solved for.

The width is the smallest that recalls every fact, found by doubling and bisection to 5 %. The released search, too,
asks for an accuracy of 1 (`success_acc_threshold`). The certificate also states the width at which 98 % of the facts
are recalled, and the MLP's own parameters, 3dm, without the embeddings.
"""

from __future__ import annotations

import math

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.hebbian2026.options import HebbianOptions, spec_with
from rote.models.bilinear_memory import BilinearMemory
from rote.tasks import AssociationTask

SOURCE = "released code (github.com/HazyResearch/hebbian-mlps, commit 4144397), float64, ridge 1e-6"
WIDTH = {False: 0.62, True: 0.2}
"""Neurons per fact that random and fitted neurons were seen to need, at the default dim."""


def dim_of(request: Request[AssociationTask, HebbianOptions]) -> int:
    """Four dimensions squared per fact, unless given: the published sweeps have one to 32."""
    return request.dim or max(8, math.ceil(2 * math.sqrt(request.task.distinct_keys)))


def size_may_differ(request: Request[AssociationTask, HebbianOptions]) -> str:
    return "the width is an estimate: the smallest that recalls every fact is searched for"


def _record(fitted: bool) -> Construction[AssociationTask, HebbianOptions]:
    id = f"hebbian2026.{'data_dependent' if fitted else 'whitened'}"

    def spec(request: Request[AssociationTask, HebbianOptions]) -> BilinearMemory:
        task, dim = request.task.majority(), dim_of(request)
        width = request.options.width or max(2, math.ceil(WIDTH[fitted] * task.facts))
        return spec_with(task, dim, width)

    def build(request: Request[AssociationTask, HebbianOptions]) -> Draft:
        from rote.constructions.hebbian2026.search import smallest_width

        return smallest_width(request, dim_of(request), spec(request).width, fitted, id)

    def cpu_seconds(request: Request[AssociationTask, HebbianOptions]) -> float:
        return 0.5 + (2e-5 if fitted else 2e-6) * request.task.distinct_keys**2

    return Construction(
        id=id,
        summary=f"Hebbian MLP for given embeddings: {'fitted' if fitted else 'random'} bilinear neurons, ridge readout",
        paper="hebbian2026",
        passage=SOURCE,
        unguaranteed="building tells the width; the rank of the neurons guarantees as many facts as neurons",
        tasks=(AssociationTask,),
        build=build,
        edit=rebuilt_by(id),
        spec=spec,
        size_may_differ=size_may_differ,
        cpu_seconds=cpu_seconds,
        quick_facts=2_000,
        sizes=("dim",),
        options=HebbianOptions,
    )


WHITENED = register_construction(_record(fitted=False))
DATA_DEPENDENT = register_construction(_record(fitted=True))
