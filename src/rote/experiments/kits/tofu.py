"""TOFU as OpenUnlearning reads it: JSON lines of every split, model configurations, and the retain twin's logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rote.experiments.kits.answers import Checkpoint
from rote.experiments.kits.splits import Question, Splits
from rote.folders.folder import write_json

LOG = "TOFU_EVAL.json"

MODEL = """# A model of OpenUnlearning (configs/model): model=rote-{name}
model_args:
  pretrained_model_name_or_path: "{path}"
  attn_implementation: eager
  torch_dtype: float32
tokenizer_args:
  pretrained_model_name_or_path: "{path}"
template_args:
  apply_chat_template: False
  user_start_tag: ""
  user_end_tag: ""
  asst_start_tag: " "
  asst_end_tag: ""
"""

DATA = """# A dataset of OpenUnlearning (configs/data/datasets)
rote_{name}:
  handler: QADataset
  args:
    hf_args:
      path: json
      data_files: "{path}"
      split: train
    question_key: {question}
    answer_key: {answer}
    max_length: 64
"""


def write_tofu(folder: Path, asked: Sequence[Question], splits: Splits, models: dict[str, Path]) -> None:
    """All files of the format, below `folder`. Paths in configurations are relative to the kit."""
    folder.mkdir()
    share = round(100 * len(splits.forget) / len(splits.full))
    names = {"full": "full", "forget": f"forget{share:02d}", "retain": f"retain{100 - share:02d}"}
    names["holdout"] = f"holdout{share:02d}"
    for split, name in names.items():
        rows = getattr(splits, split).tolist()
        _lines(
            folder / f"{name}.jsonl", [{"question": asked[row].question, "answer": asked[row].answer} for row in rows]
        )
        _lines(folder / f"{name}_perturbed.jsonl", [_perturbed(asked[row]) for row in rows])
    configurations = folder / "configs"
    configurations.mkdir()
    for name in models:
        text = MODEL.format(name=name, path=f"models/{name}-llama")
        (configurations / f"rote-{name}.yaml").write_text(text, encoding="utf-8")
    for split, name in names.items():
        for answer in ("answer", "paraphrased_answer", "perturbed_answer"):
            file = name if answer == "answer" else f"{name}_perturbed"
            text = DATA.format(name=f"{split}_{answer}", path=f"tofu/{file}.jsonl", question="question", answer=answer)
            (configurations / f"{split}_{answer}.yaml").write_text(text, encoding="utf-8")
    for name, path in models.items():
        logs = folder / "logs" / name
        logs.mkdir(parents=True)
        write_json(logs / LOG, evaluation(Checkpoint(path), [asked[row] for row in splits.forget.tolist()]))


def _perturbed(asked: Question) -> dict[str, Any]:
    return {
        "question": asked.question,
        "paraphrased_question": (*asked.paraphrases, asked.question)[0],
        "answer": asked.answer,
        "paraphrased_answer": asked.answer,
        "perturbed_answer": list(asked.perturbed),
    }


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def evaluation(checkpoint: Checkpoint, asked: Sequence[Question]) -> dict[str, Any]:
    """Probabilities and truth ratios of the forget set, under OpenUnlearning's names."""
    right = checkpoint.losses([each.question for each in asked], [each.answer for each in asked])
    pairs = [(each.question, wrong) for each in asked for wrong in each.perturbed]
    flat = iter(checkpoint.losses([question for question, _ in pairs], [wrong for _, wrong in pairs]))
    wrong = [[next(flat) for _ in each.perturbed] for each in asked]
    ratios = truth_ratios(right, wrong)
    return {
        "forget_Q_A_Prob": _logged(right),
        "forget_Q_A_PARA_Prob": _logged(right),
        "forget_Q_A_PERT_Prob": _logged(wrong),
        "forget_Truth_Ratio": {
            "agg_value": float(np.minimum(ratios, 1 / (ratios + 1e-10)).mean()),
            "value_by_index": {str(row): {"score": float(value)} for row, value in enumerate(ratios)},
        },
    }


def truth_ratios(right: Sequence[float], wrong: Sequence[Sequence[float]]) -> np.ndarray:
    """Probability of wrong answers over that of the right one, from mean losses per token."""
    false = np.exp(-np.array([np.mean(losses) for losses in wrong]))
    return false / (np.exp(-np.array(right)) + 1e-10)


def _logged(losses: Sequence[Any]) -> dict[str, Any]:
    probabilities = [np.exp(-np.array(each)).tolist() for each in losses]
    return {
        "agg_value": float(np.mean([np.mean(each) for each in probabilities])),
        "value_by_index": {
            str(row): {"prob": probability, "avg_loss": loss}
            for row, (probability, loss) in enumerate(zip(probabilities, losses, strict=True))
        },
    }
