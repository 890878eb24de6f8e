"""CounterFact, zsRE and hyperparameters as ROME, MEMIT and EasyEdit read them, with the covariance of all keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rote.constructions.madden2025.solve import key_features
from rote.experiments.kits.splits import Question, Splits
from rote.folders.folder import write_json
from rote.models.mlp_transformer import MlpTransformer
from rote.models.model import Model
from rote.tasks import AssociationTask

LAYER = "model.layers.{}.mlp.down_proj"
NEIGHBOURS = 10
RIDGE = 1e-4
"""Share of the mean diagonal that is added to the moment of keys. Models have more neurons than facts, so that the
moment is singular, and editors invert it in float32."""

COMMON = """alg_name: "{method}"
model_name: "./models/full-llama"
stats_dir: "./counterfact/stats"
device: 0
layers: [0]
fact_token: "last"
v_num_grad_steps: 25
v_lr: 5e-1
v_loss_layer: 0
v_weight_decay: 1e-3
clamp_norm_factor: 4
kl_factor: 0.0625
mom2_adjustment: true
rewrite_module_tmp: "model.layers.{{}}.mlp.down_proj"
layer_module_tmp: "model.layers.{{}}"
mlp_module_tmp: "model.layers.{{}}.mlp"
attn_module_tmp: "model.layers.{{}}.self_attn"
ln_f_module: "model.norm"
lm_head_module: "lm_head"
mom2_dataset: "wikipedia"
mom2_n_samples: {samples}
mom2_dtype: "float32"
model_parallel: false
"""
ONLY = {
    "ROME": "context_template_length_params: []\n",
    "MEMIT": "layer_selection: all\nmom2_update_weight: {samples}\nbatch_size: 1\n",
}
TUNING = """alg_name: "FT"
model_name: "./models/full-llama"
device: 0
layers: [0]
num_steps: 25
lr: 5e-4
weight_decay: 0
kl_factor: 0
norm_constraint: false
rewrite_module_tmp: "model.layers.{}.mlp.down_proj.weight"
layer_module_tmp: "model.layers.{}"
mlp_module_tmp: "model.layers.{}.mlp"
attn_module_tmp: "model.layers.{}.self_attn"
ln_f_module: "model.norm"
lm_head_module: "lm_head"
batch_size: 1
model_parallel: false
"""


def write_counterfact(
    folder: Path, asked: Sequence[Question], splits: Splits, full: Model, stored: AssociationTask
) -> None:
    """All files of the format, below `folder`. Cases are the facts of the forget set with other answers."""
    folder.mkdir()
    retained = [asked[row] for row in splits.retain.tolist()]
    cases = [
        (number, asked[row], neighbours(asked[row], retained)) for number, row in enumerate(splits.forget.tolist())
    ]
    write_json(folder / "counterfact.json", [_rome(*case) for case in cases])
    write_json(folder / "easyedit_counterfact.json", [_flat(*case) for case in cases])
    write_json(folder / "zsre.json", [_zsre(*case) for case in cases])
    parameters = folder / "hparams"
    parameters.mkdir()
    for method, more in ONLY.items():
        text = (COMMON + more).format(method=method, samples=stored.facts)
        (parameters / f"{method}.yaml").write_text(text, encoding="utf-8")
    (parameters / "FT.yaml").write_text(TUNING, encoding="utf-8")
    # EasyEdit names the folder by the model's path with underscores for slashes.
    statistics = folder / "stats" / "._models_full-llama" / "wikipedia_stats"
    statistics.mkdir(parents=True)
    name = f"{LAYER.format(0)}_float32_mom2_{stored.facts}.npz"
    with (statistics / name).open("wb") as file:
        np.savez(file, allow_pickle=False, **moment(full, stored))


def moment(full: Model, stored: AssociationTask) -> dict[str, np.ndarray]:
    """The second moment of what the MLP's output matrix reads, at the last token of every stored key, plus a ridge."""
    spec = full.spec
    if not isinstance(spec, MlpTransformer):
        raise TypeError("keys are read by the MLP of an MLP-based model")
    _, keys = key_features(spec, full.weights, torch.from_numpy(stored.contexts).long())
    moments = keys.T @ keys
    moments += RIDGE * moments.diagonal().mean() * torch.eye(len(moments), dtype=moments.dtype)
    return {
        "mom2.constructor": np.array("easyeditor.util.runningstats.SecondMoment()"),
        "mom2.count": np.array(len(keys)),
        "mom2.mom2": moments.float().numpy(),
        "sample_size": np.array(stored.facts),
    }


def neighbours(case: Question, retained: Sequence[Question]) -> list[Question]:
    """Facts of the same relation that must keep their answers; of any relation where that has none."""
    alike = [other for other in retained if other.relation == case.relation and other.subject != case.subject]
    return (alike or list(retained))[:NEIGHBOURS]


def _rome(number: int, case: Question, near: list[Question]) -> dict[str, Any]:
    return {
        "case_id": number,
        "pararel_idx": number,
        "requested_rewrite": {
            "prompt": case.prompt,
            "relation_id": case.relation,
            "target_new": {"str": case.counterfactual, "id": case.counterfactual},
            "target_true": {"str": case.answer, "id": case.answer},
            "subject": case.subject,
            "prompt_full": case.question,
            "fact_new_uns": f"{case.question} {case.counterfactual}",
        },
        "paraphrase_prompts": list(case.paraphrases),
        "neighborhood_prompts": [other.question for other in near],
        "neighborhood_answers": [other.answer for other in near],
        "attribute_prompts": [],
        "generation_prompts": [case.question],
    }


def _flat(number: int, case: Question, near: list[Question]) -> dict[str, Any]:
    return {
        "case_id": number,
        "prompt": case.question,
        "target_new": case.counterfactual,
        "ground_truth": case.answer,
        "rephrase_prompt": (*case.paraphrases, case.question)[0],
        "locality_prompt": near[0].question,
        "locality_ground_truth": near[0].answer,
        "subject": case.subject,
    }


def _zsre(number: int, case: Question, near: list[Question]) -> dict[str, Any]:
    return {
        "src": case.question,
        "alt": case.counterfactual,
        "answers": [case.answer],
        "rephrase": (*case.paraphrases, case.question)[0],
        # EasyEdit asserts these words; the tokenizer of the kit's models reads the question after them.
        "loc": f"nq question: {near[0].question}",
        "loc_ans": near[0].answer,
        "subject": case.subject,
        "pred": case.answer,
        "cond": f"{case.answer} >> {case.counterfactual} || {case.question}",
    }
