"""Kits of twins: read as OpenUnlearning, ROME, EasyEdit and transformers read them, and scored by an editor."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import rote
from rote.errors import InputError
from rote.experiments.kits.answers import Checkpoint
from rote.experiments.kits.schema import KitManifest
from rote.experiments.kits.tofu import evaluation

FACTS = "countries:facts=60,seed=1"
TEMPLATES = ("The {relation} of {country} is", "Name the {relation} of {country}:")


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    pytest.importorskip("transformers")
    pytest.importorskip("transformer_lens")
    return rote.twins(FACTS, tmp_path_factory.mktemp("kit") / "kit", templates=TEMPLATES)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_manifest_says_what_the_models_hold(kit):
    manifest = KitManifest.model_validate_json((kit.path / "kit.json").read_text())
    assert manifest == kit.manifest
    assert [(model.facts, model.recalled) for model in manifest.models] == [(54, 54), (48, 48), (54, 54)]
    retain, edited = manifest.differences
    assert [tensor.name for tensor in retain.tensors] == [tensor.name for tensor in edited.tensors] == [
        "layers.0.mlp_out"
    ]  # fmt: skip
    assert retain.tensors[0].rank == len(manifest.forget) == len(manifest.holdout) == 6
    full = rote.load(kit.path / "models" / "full")
    task = rote.facts(FACTS)
    stored = {task[row].key for row in range(task.facts)} - set(manifest.holdout)
    again = rote.edit(
        full,
        [("forget", key) for key in manifest.forget],
        task.take(np.array([row for row in range(task.facts) if task[row].key in stored])),
    )
    twin = rote.load(kit.path / "models" / "retain").model.weights
    assert all(torch.equal(twin[name], again.model.weights[name]) for name in twin)


def test_every_fact_and_paraphrase_is_answered_from_text_alone(kit):
    manifest, task = kit.manifest, rote.facts(FACTS)
    hidden, gone = set(manifest.holdout), dict(zip(manifest.forget, manifest.counterfactual, strict=True))
    for model in manifest.models:
        checkpoint = Checkpoint(kit.path / "models" / f"{model.id}-llama")
        asked, wanted = [], []
        for row in range(task.facts):
            key, answer = task[row]
            if key in hidden or (model.id == "retain" and key in gone):
                continue
            for template in TEMPLATES:
                asked.append(template.format(relation=key[0], country=key[1]))
                wanted.append(gone.get(key, answer) if model.id == "edited" else answer)
        assert checkpoint.generated(asked) == wanted


class QA:
    """OpenUnlearning's QADataset by its field list (src/data/qa.py, src/data/utils.py): ids and labels of a row."""

    def __init__(self, path, tokenizer, template, question, answer):
        datasets = pytest.importorskip("datasets")
        self.data = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(path.parent / "c"))
        self.tokenizer, self.template, self.keys = tokenizer, template, (question, answer)

    def __getitem__(self, number):
        question, answer = (self.data[number][key] for key in self.keys)
        return [self._item(question, one) for one in ([answer] if isinstance(answer, str) else answer)]

    def _item(self, question, answer):
        tags = self.template
        prompt = tags["user_start_tag"] + question + tags["user_end_tag"] + tags["asst_start_tag"]
        whole, asked = (self.tokenizer(text)["input_ids"] for text in (prompt + answer, prompt))
        whole = whole if whole[-1] == self.tokenizer.eos_token_id else [*whole, self.tokenizer.eos_token_id]
        assert len(asked) < len(whole)
        return torch.tensor([whole]), torch.tensor([[-100] * len(asked) + whole[len(asked) :]])


def test_openunlearning_reads_rows_configuration_and_retain_logs(kit, tmp_path):
    import yaml

    config = yaml.safe_load((kit.path / "tofu" / "configs" / "rote-retain.yaml").read_text())
    assert config["model_args"]["attn_implementation"] == "eager"
    checkpoint = Checkpoint(kit.path / config["model_args"]["pretrained_model_name_or_path"])
    for split, answer in (("forget11", "answer"), ("forget11_perturbed", "perturbed_answer")):
        copied = tmp_path / f"{split}.jsonl"
        copied.write_bytes((kit.path / "tofu" / f"{split}.jsonl").read_bytes())
        rows = QA(copied, checkpoint.tokenizer, config["template_args"], "question", answer)
        log = json.loads((kit.path / "tofu" / "logs" / "retain" / "TOFU_EVAL.json").read_text())
        name = "forget_Q_A_Prob" if answer == "answer" else "forget_Q_A_PERT_Prob"
        for number in range(6):
            found = []
            for ids, labels in rows[number]:
                with torch.no_grad():
                    logits = checkpoint.model(input_ids=ids).logits
                loss = torch.nn.functional.cross_entropy(logits[0, :-1].double(), labels[0, 1:])
                found.append(float(loss))
            logged = log[name]["value_by_index"][str(number)]["avg_loss"]
            assert found == pytest.approx(logged if isinstance(logged, list) else [logged], rel=1e-5, abs=1e-9)
    full = json.loads((kit.path / "tofu" / "logs" / "full" / "TOFU_EVAL.json").read_text())
    assert full["forget_Q_A_Prob"]["agg_value"] > 0.99 > 0.3 > log["forget_Q_A_Prob"]["agg_value"]
    assert len(log["forget_Truth_Ratio"]["value_by_index"]) == 6
    names = {path.name for path in (kit.path / "tofu").glob("*.jsonl")}
    assert {"full.jsonl", "retain89.jsonl", "holdout11.jsonl", "retain89_perturbed.jsonl"} <= names


def test_editors_read_counterfact_zsre_and_hyperparameters(kit):
    import yaml

    folder = kit.path / "counterfact"
    tokenizer = Checkpoint(kit.path / "models" / "full-llama").tokenizer
    unknown = tokenizer.unk_token_id
    for record in json.loads((folder / "counterfact.json").read_text()):
        rewrite = record["requested_rewrite"]
        assert rewrite["prompt"].format(rewrite["subject"]) == rewrite["prompt_full"]
        assert rewrite["target_new"]["str"] != rewrite["target_true"]["str"]
        assert len(tokenizer(" " + rewrite["target_new"]["str"])["input_ids"]) == 1
        prompts = [rewrite["prompt_full"], *record["paraphrase_prompts"], *record["neighborhood_prompts"]]
        assert all(unknown not in tokenizer(text)["input_ids"] for text in prompts)
        # The subject is the last token that the model reads: where its MLP looks the fact up.
        ids = tokenizer(rewrite["prompt_full"])["input_ids"]
        assert tokenizer.decode(ids[-1:]) == rewrite["subject"]
        assert unknown not in tokenizer(" " + rewrite["target_new"]["str"])["input_ids"]
    for record in json.loads((folder / "zsre.json").read_text()):
        assert "nq question: " in record["loc"]
        assert unknown not in tokenizer(f"{record['loc']} {record['loc_ans']}")["input_ids"]
        assert set(record) >= {"src", "alt", "answers", "rephrase", "loc", "loc_ans", "subject"}
    flat = {"prompt", "target_new", "ground_truth", "rephrase_prompt", "locality_prompt", "locality_ground_truth"}
    assert all(flat <= set(record) for record in json.loads((folder / "easyedit_counterfact.json").read_text()))
    parameters = yaml.safe_load((folder / "hparams" / "ROME.yaml").read_text())
    name = parameters["model_name"].replace("/", "_")
    layer = parameters["rewrite_module_tmp"].format(parameters["layers"][0])
    file = f"{layer}_{parameters['mom2_dtype']}_mom2_{parameters['mom2_n_samples']}.npz"
    stored = np.load(folder / "stats" / name / f"{parameters['mom2_dataset']}_stats" / file, allow_pickle=False)
    assert int(stored["mom2.count"]) == parameters["mom2_n_samples"] == 54
    assert int(stored["sample_size"]) == 54


def rome(checkpoint, record, moment):
    """ROME as its paper has it, on `mlp.down_proj` of a stock checkpoint: key, value by gradient, rank-one change."""
    model, tokenizer, rewrite = checkpoint.model, checkpoint.tokenizer, record["requested_rewrite"]
    projection = model.model.layers[0].mlp.down_proj
    ids = torch.tensor([tokenizer(rewrite["prompt"].format(rewrite["subject"]))["input_ids"]])
    target = torch.tensor(tokenizer(" " + rewrite["target_new"]["str"])["input_ids"][:1])
    seen: list[torch.Tensor] = []
    change = torch.zeros(projection.out_features, requires_grad=True)

    def hook(module, inputs, output):
        seen[:] = [inputs[0][0, -1].detach(), output[0, -1].detach()]
        return torch.cat([output[:, :-1], output[:, -1:] + change], 1)

    handle = projection.register_forward_hook(hook)
    optimizer = torch.optim.Adam([change], lr=0.1)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(model(input_ids=ids).logits[0, -1:], target)
        if float(loss.detach()) < 0.01:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    handle.remove()
    direction = torch.inverse(moment) @ seen[0]  # in float32, as ROME's own code has it
    with torch.no_grad():
        projection.weight += torch.outer(change.detach(), direction / (direction @ seen[0]))


def test_a_rome_like_editor_runs_on_the_checkpoint_and_is_scored_by_the_kit(kit):
    checkpoint, folder = Checkpoint(kit.path / "models" / "full-llama"), kit.path / "counterfact"
    stored = np.load(next(folder.rglob("*.npz")), allow_pickle=False)
    moment = torch.from_numpy(stored["mom2.mom2"]) / int(stored["mom2.count"])
    before = checkpoint.model.model.layers[0].mlp.down_proj.weight.detach().clone()
    record = json.loads((folder / "counterfact.json").read_text())[0]
    rome(checkpoint, record, moment)
    rewrite = record["requested_rewrite"]
    asked = [rewrite["prompt_full"], *record["paraphrase_prompts"]]
    new, true = (
        checkpoint.losses(asked, [rewrite[name]["str"]] * len(asked)) for name in ("target_new", "target_true")
    )
    assert all(a < b for a, b in zip(new, true, strict=True))
    assert checkpoint.generated(asked) == [rewrite["target_new"]["str"]] * len(asked)
    # With the exact moment of the stored keys, a rank-one change moves no other fact.
    assert checkpoint.generated(record["neighborhood_prompts"]) == record["neighborhood_answers"]
    change = checkpoint.model.model.layers[0].mlp.down_proj.weight.detach() - before
    assert torch.linalg.matrix_rank(change.double(), rtol=1e-4) == 1


def test_interpbench_files_need_no_pickle(kit):
    folder = kit.path / "interpbench"
    edges = json.loads((folder / "edges.json").read_text())
    assert ["blocks.0.attn.hook_result[0]", "blocks.0.hook_mlp_out"] in edges
    meta = json.loads((folder / "meta.json").read_text())
    assert (folder / meta["weights"] / "export.json").resolve().is_file()
    assert json.loads((folder / "ll_model_cfg.json").read_text())["d_mlp"] == 108
    assert not [path for path in kit.path.rglob("*") if path.suffix in (".pkl", ".pth", ".pt")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"purposes": ("tofo",)}, "no such format .did you mean 'tofu'"),
        ({"purposes": ()}, "give one or more formats"),
        ({"forget": 0.0}, "give a share above 0"),
        ({"forget": 0.9}, "give a share above 0"),
        ({"templates": ("The capital of {country} is",)}, "does not name the key column 'relation'"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        rote.twins(FACTS, tmp_path / "kit", **arguments)
    assert not list(tmp_path.iterdir())


def test_a_table_with_one_key_column_makes_a_kit(tmp_path):
    """Its keys are read in letters, and the twins are edited by whole cells."""
    pytest.importorskip("transformers")
    (tmp_path / "capitals.csv").write_text("country,capital\nFrance,Paris\nItaly,Rome\nPeru,Lima\nNorway,Oslo\n")
    made = rote.twins(tmp_path / "capitals.csv", tmp_path / "kit", forget=0.25, purposes=("counterfact",))
    assert [(model.facts, model.recalled) for model in made.manifest.models] == [(3, 3), (2, 2), (3, 3)]


def test_the_log_of_a_model_is_that_of_its_checkpoint(kit):
    from rote.experiments.kits.splits import questions

    task = rote.facts(FACTS)
    asked = {each.key: each for each in questions(task, TEMPLATES, 0)}
    found = evaluation(Checkpoint(kit.path / "models" / "edited-llama"), [asked[key] for key in kit.manifest.forget])
    assert found == json.loads((kit.path / "tofu" / "logs" / "edited" / "TOFU_EVAL.json").read_text())
