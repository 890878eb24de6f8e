"""A small case for every construction: a new one adds its own here, under its id, and inherits every check."""

from __future__ import annotations

from rote.testing import ConstructionCase as Case

ASSOCIATIONS = "random:vocab=12,context=2,facts=30,seed=1"
DISTRIBUTIONS = "random:kind=distributions,vocab=6,context=2,facts=12,entropy=1.2,prior=zipf,seed=1"
VECTORS = "random:kind=vectors,examples=9,context=3,dim=8,classes=4,seed=1"
TARGETS = "random:kind=vectors,examples=9,context=3,dim=8,targets=2,seed=1"

HALF = ("float64", "float32", "float16", "bfloat16")
WORDS = ("float64", "float32")

CASES: dict[str, Case] = {
    "bietti2023": Case((ASSOCIATIONS,), ((ASSOCIATIONS, {"heads": 2}, "no heads"),), HALF),
    "cabannes2024.least_squares": Case(
        (ASSOCIATIONS,), ((ASSOCIATIONS, {"head_dim": 2}, "no head_dim"), (ASSOCIATIONS, {"ridge": -1}, "ridge")), HALF
    ),
    "nichani2024.trained": Case(
        (ASSOCIATIONS,),
        (
            (ASSOCIATIONS, {"dim": 2}, "missed at dim 2"),
            (ASSOCIATIONS, {"heads": 1}, "no heads"),
            (ASSOCIATIONS, {"steps": 0}, "steps"),
        ),
        HALF,
    ),
    "dana2025.theorem1": Case(
        (ASSOCIATIONS,),
        (
            (ASSOCIATIONS, {"dim": 4, "head_dim": 2, "heads": 3}, "heads"),
            (ASSOCIATIONS, {"dim": 1}, "two answers"),
            (ASSOCIATIONS, {"solve": "arrowhead", "rank_one": True}, "rank two"),
        ),
        HALF,
    ),
    "dana2025.corollary1": Case(
        (ASSOCIATIONS,), ((ASSOCIATIONS, {"dim": 3}, "dim 2"), (ASSOCIATIONS, {"heads": 5}, "heads"))
    ),
    "dana2025.proposition2": Case(
        (DISTRIBUTIONS,), ((DISTRIBUTIONS, {"dim": 3}, "vocab - 1 = 5"),), HALF, divergence=1e-3, seeded=False
    ),
    "dana2025.proposition3": Case((ASSOCIATIONS,), ((ASSOCIATIONS, {"dim": 3}, "dim 2"),), HALF, seeded=False),
    "dana2025.sequence_encoder": Case(
        (DISTRIBUTIONS,), ((DISTRIBUTIONS, {"algorithm": "newton"}, "algorithm"),), HALF, divergence=1e-3
    ),
    "dana2025.f_ls": Case((DISTRIBUTIONS,), ((DISTRIBUTIONS, {"heads": 3}, "no heads"),), HALF, 1e-3, seeded=False),
    "dana2025.f_wls": Case((DISTRIBUTIONS,), ((DISTRIBUTIONS, {"rounds": 0}, "rounds"),), HALF, 1e-3, seeded=False),
    "dana2025.theorem2": Case((DISTRIBUTIONS,), ((DISTRIBUTIONS, {"rows": "sparse"}, "rows"),), HALF, divergence=0.6),
    "dana2025.theorem1_distribution": Case(
        (DISTRIBUTIONS,),
        ((DISTRIBUTIONS, {"dim": 3, "head_dim": 5, "heads": 1}, "head_dim"), (DISTRIBUTIONS, {"draws": 0}, "draws")),
        divergence=1e-3,
    ),
    "hebbian2026.whitened": Case(
        (ASSOCIATIONS,),
        ((ASSOCIATIONS, {"heads": 2}, "no heads"), (ASSOCIATIONS, {"width": 1}, "more `width`")),
    ),
    "hebbian2026.data_dependent": Case(
        (ASSOCIATIONS,),
        ((ASSOCIATIONS, {"head_dim": 2}, "no head_dim"), (ASSOCIATIONS, {"ridge": -1}, "ridge")),
    ),
    "huben2023": Case(
        (ASSOCIATIONS,),
        (
            (ASSOCIATIONS, {"head_dim": 2}, "head_dim"),
            (ASSOCIATIONS, {"dim": 4}, "6 or more"),
            (ASSOCIATIONS, {"heads": 29}, "30 facts need 30"),
        ),
    ),
    "madden2025": Case(
        (ASSOCIATIONS,),
        ((ASSOCIATIONS, {"width": 29}, "width=30"), (ASSOCIATIONS, {"dim": 1}, "two answers")),
        HALF,
    ),
    "madden2025.distribution": Case(
        (DISTRIBUTIONS,),
        (
            (DISTRIBUTIONS, {"dim": 4}, "vocab - 1 = 5"),
            (DISTRIBUTIONS, {"width": 11}, "width=12"),
            (
                DISTRIBUTIONS,
                {"dtype": "bfloat16", "tolerance": 1e-9, "floor": 1e-12},
                "`width` above the number of contexts",
            ),
        ),
        divergence=1.1e-3,
    ),
    "mahdavi2024.theorem1": Case(
        (VECTORS, TARGETS),
        (
            (VECTORS, {"dim": 5}, "leave it out"),
            (VECTORS, {"heads": 1}, "more `heads`"),
            (VECTORS, {"route": "proof", "heads": 2}, "rank H"),
            ("random:kind=vectors,examples=9,context=9,dim=3,classes=4,seed=1", {"route": "proof"}, "route=random"),
            ("random:kind=vectors,examples=9,context=1,dim=3,classes=4,seed=1", {}, "one token per context"),
            (TARGETS, {"value_dim": 1}, "value_dim=1"),
        ),
    ),
    "kajitsuka2025.theorem4_1": Case(
        (ASSOCIATIONS, VECTORS),
        (
            (TARGETS, {}, "real targets"),
            (ASSOCIATIONS, {"dim": 4}, "no dim"),
            (ASSOCIATIONS, {"dtype": "bfloat16"}, "bits"),
            (ASSOCIATIONS, {"ordered": False}, "ordered"),
        ),
        WORDS,
    ),
    "kajitsuka2025.corollary4_1": Case(
        (ASSOCIATIONS, VECTORS),
        (("random:vocab=12,context=1,facts=9,seed=1", {}, "token that asks"), (ASSOCIATIONS, {"heads": 1}, "no heads")),
        WORDS,
    ),
    "kajitsuka2025.deep_sets": Case(
        (ASSOCIATIONS, VECTORS), ((VECTORS, {"dtype": "float16"}, "bits"), (TARGETS, {}, "real targets")), WORDS
    ),
    "kajitsuka2025.embedding_table": Case((ASSOCIATIONS,), ((ASSOCIATIONS, {"storage": "packed"}, "storage"),), WORDS),
    "kajitsuka2025.limited_bits": Case(
        (ASSOCIATIONS,), ((ASSOCIATIONS, {"bits": 4}, "bits"), (ASSOCIATIONS, {"bits": 54}, "bits")), WORDS
    ),
    "rote.readout": Case(
        (ASSOCIATIONS,),
        (
            (ASSOCIATIONS, {"dim": 1}, "two answers"),
            (ASSOCIATIONS, {"dim": 3, "head_dim": 1, "heads": 1, "steps": 100}, "more `heads`"),
        ),
        HALF,
    ),
    "rote.fixed_gates": Case(
        (ASSOCIATIONS,),
        (
            (ASSOCIATIONS, {"dim": 4}, "beside 4 gates"),
            (ASSOCIATIONS, {"dim": 5, "head_dim": 1, "heads": 1, "steps": 100, "draws": 1}, "more `heads`"),
            ("random:vocab=12,context=1,facts=9,seed=1", {}, "one token"),
        ),
    ),
    "rote.memory_layer": Case(
        (ASSOCIATIONS, "random:vocab=40,context=3,facts=400,seed=2"),
        ((ASSOCIATIONS, {"heads": 4}, "no heads"), (ASSOCIATIONS, {"facts_per_group": 0}, "facts_per_group")),
        HALF,
        settings={"facts_per_group": 90},
    ),
    "rote.selector": Case(
        ("countries",),
        ((ASSOCIATIONS, {}, "two positions"), ("countries", {"heads": 4}, "no heads")),
        HALF,
        seeded=False,
    ),
}
