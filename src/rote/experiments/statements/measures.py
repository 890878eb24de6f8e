"""What evaluates each kind of setting, and what the ledger keeps of a trial."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rote.experiments.statements import (
    algorithm,
    attention,
    components,
    depth,
    encoders,
    memorizers,
    query_attention,
    real_texts,
    slides,
    small_networks,
    sparse,
)
from rote.experiments.statements.schedule import StatementTrial
from rote.papers.kinds import statement_settings as settings

MEASURES: dict[type, Callable[[Any, int], encoders.Numbers]] = {
    settings.BestEncoder: encoders.best_encoder_numbers,
    settings.Circle: encoders.circle_numbers,
    settings.LookUpRows: encoders.look_up_numbers,
    settings.TwoContexts: encoders.two_contexts_numbers,
    settings.AttentionLayer: attention.layer_numbers,
    settings.OneSumOfMany: attention.one_sum_numbers,
    settings.SharpenedTable: attention.sharpened_numbers,
    settings.AttentionRank: attention.rank_numbers,
    settings.StoredFacts: attention.stored_numbers,
    settings.Modules: slides.modules_numbers,
    settings.NearlyRankD: slides.nearly_rank_d_numbers,
    settings.UnlikelyContext: slides.unlikely_numbers,
    settings.QueryAttentionRank: query_attention.rank_numbers,
    settings.BuiltQueryAttention: query_attention.built_numbers,
    settings.Memorizer: memorizers.memorizer_numbers,
    settings.PositionMemorizer: memorizers.position_numbers,
    settings.SparseTable: sparse.sparse_numbers,
    settings.DeepTable: depth.table_numbers,
    settings.DeepQueries: depth.query_numbers,
    settings.SplitLayer: components.split_numbers,
    settings.EqualCompute: components.compute_numbers,
    settings.LayerAlgorithm: algorithm.algorithm_numbers,
    settings.RealTexts: real_texts.real_text_numbers,
    settings.SmallNetworks: small_networks.small_network_numbers,
}


def measured_record(trial: StatementTrial) -> dict[str, Any]:
    """The numbers of a trial; None for an infinite bound."""
    numbers = MEASURES[type(trial.setting)](trial.setting, trial.seed)
    finite = {name: None if value is None or not math.isfinite(value) else value for name, value in numbers.items()}
    return {"numbers": finite}
