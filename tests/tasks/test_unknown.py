"""Abstention stored in the weights: every key that is not stored answers `unknown`."""

from pathlib import Path

import numpy as np
import pytest
import torch

import rote
from rote.errors import InputError
from rote.measure.intervals import clopper_pearson
from rote.tasks.unknown import UNKNOWN, KeySpace, made_up_keys, stored_part

OWNED = [
    {"owner": owner, "relation": relation, "subject": subject, "answer": f"{owner}{number}{relation}"}
    for owner in ("ann", "bob", "cid")
    for number, (relation, subject) in enumerate([("pin", "door"), ("pin", "safe"), ("code", "door")])
    if (owner, number) != ("bob", 1)
]


def _trained(task: rote.AssociationTask) -> object:
    return rote.train(task, rote.AttentionOnly(vocab=task.vocab, context=4, dim=4, head_dim=2, heads=2))


def _table(path: Path, rows: list[dict[str, str]]) -> Path:
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_every_key_of_the_space_is_a_fact() -> None:
    task = rote.facts("random:vocab=12,context=2,facts=30,seed=1", unknown=True)
    plain = rote.facts("random:vocab=12,context=2,facts=30,seed=1")
    assert isinstance(task, rote.AssociationTask)
    assert isinstance(plain, rote.AssociationTask)
    assert task.facts == KeySpace.of(plain).size == task.distinct_keys
    assert stored_part(task).facts == 30
    assert (stored_part(task).contexts == plain.contexts).all()
    assert set(task.vocabulary.words(task.answers[30:])) == {UNKNOWN}


def test_short_keys_are_those_of_lengths_that_occur() -> None:
    task = rote.facts({"ab": "1", "ba": "2", "a": "3"}, keys="letters", unknown=True)
    assert sorted(str(task[row]) for row in range(task.facts)) == [  # type: ignore[index]
        "a -> 3", "aa -> unknown", "ab -> 1", "b -> unknown", "ba -> 2", "bb -> unknown"
    ]  # fmt: skip


def test_facts_of_one_owner_are_unknown_under_another(tmp_path: Path) -> None:
    table = _table(tmp_path / "owned.tsv", OWNED)
    built = rote.build(rote.facts(table, unknown=True))
    assert built.certificate.recalled == built.certificate.facts == 12
    model = rote.load(built.save(tmp_path / "model")).model
    stored = {(row["owner"], row["relation"], row["subject"]): row["answer"] for row in OWNED}
    for owner in ("ann", "bob", "cid"):
        for relation in ("pin", "code"):
            for subject in ("door", "safe"):
                wanted = stored.get((owner, relation, subject), UNKNOWN)
                assert model.ask(owner, relation, subject).answer == wanted
    assert not (tmp_path / "model" / "keys.safetensors").exists()
    assert rote.verify(tmp_path / "model", rote.facts(table, unknown=True)).holds


def test_a_folder_reads_its_unknown_keys_again(tmp_path: Path) -> None:
    from rote.folders.layout import read_origin
    from rote.folders.named_facts import facts_of_folder

    task = rote.facts("random:vocab=12,context=2,facts=30,seed=1", unknown=True)
    path = rote.build(task).save(tmp_path / "model")
    again = facts_of_folder(read_origin(path), path)
    assert again.fingerprint == task.fingerprint
    assert rote.verify(path, again).holds


def test_a_sampled_rate_is_stated_before_and_measured_after() -> None:
    task = rote.facts("random:vocab=40,context=4,facts=60,seed=1", unknown=True, unknown_keys=400)
    built = rote.build(task, dtype="int8")
    measured = built.certificate.measured
    assert (measured["stored_keys"], measured["unknown_keys"], measured["every_key"]) == (60, 400, False)
    after = rote.abstention(built.model, task, 2_000)
    assert measured["unknown_rate"] > 0.7
    assert after.interval.low <= after.rate <= after.interval.high
    assert abs(after.rate - measured["unknown_rate"]) < 0.05


def test_a_threshold_calls_most_other_keys_unknown_and_survives_saving(tmp_path: Path) -> None:
    task = rote.facts("random:vocab=40,context=4,facts=60,seed=1", unknown=True)
    assert isinstance(task, rote.AssociationTask)
    assert task.facts == 60
    built = rote.build(task, dtype="int8")
    measured = built.certificate.measured
    assert built.certificate.recalled == 60
    assert (measured["stored_keys"], measured["unknown_keys"], measured["every_key"]) == (60, 0, False)
    assert measured["unknown_rate"] > 0.8
    model = rote.load(built.save(tmp_path / "model")).model
    assert model.vocabulary is not None
    said = torch.cat(list(model.logits_in_parts(made_up_keys(task, 500, 3))))[:, model.vocabulary.index[UNKNOWN]]
    assert said.max() - said.min() < 1e-5 * said.max()
    stored = torch.cat(list(model.logits_in_parts(task.contexts)))
    assert stored.gather(1, torch.from_numpy(task.answers).long()[:, None]).min() > said.max()


def test_made_up_keys_are_new_and_different() -> None:
    task = rote.facts("random:vocab=12,context=3,facts=90,seed=1")
    assert isinstance(task, rote.AssociationTask)
    keys = made_up_keys(task, 300, 7)
    rows = {tuple(key) for key in keys.tolist()}
    assert len(rows) == 300
    assert not rows & {tuple(key) for key in task.contexts.tolist()}
    assert (keys == made_up_keys(task, 300, 7)).all()
    assert np.isin(keys, task.contexts).all()


@pytest.mark.parametrize(("successes", "low", "high"), [(0, 0.0, 0.3085), (5, 0.1871, 0.8129), (10, 0.6915, 1.0)])
def test_clopper_pearson(successes: int, low: float, high: float) -> None:
    assert clopper_pearson(successes, 10) == pytest.approx((low, high), abs=1e-4)


def test_what_cannot_be_is_refused() -> None:
    large = rote.facts("random:vocab=40,context=4,facts=600,seed=1", unknown=True)
    assert isinstance(large, rote.AssociationTask)
    for use in (rote.build, rote.plan, _trained):
        with pytest.raises(InputError, match=r"2,560,000 keys could be asked, .*`dtype=int8`"):
            use(large)
    with pytest.raises(InputError, match="`dim=1`: a threshold takes a dimension of its own"):
        rote.build(large, dtype="int8", dim=1)
    with pytest.raises(InputError, match="too coarse for a threshold; give one of int8, int6"):
        rote.build(large, dtype="int4")
    with pytest.raises(InputError, match="goes with `unknown=True`"):
        rote.facts("random:vocab=40,context=4,facts=600,seed=1", unknown_keys=3)
    with pytest.raises(InputError, match="would have two meanings"):
        rote.facts({("a", "b"): "unknown", ("c", "d"): "x"}, unknown=True)
    with pytest.raises(InputError, match="made-up keys: only 1 keys"):
        rote.facts({("a", "b"): "y", ("c", "d"): "x", ("a", "d"): "z"}, unknown=True, unknown_keys=2)
    task = rote.facts({("a", "b"): "y", ("c", "d"): "x"})
    model = rote.build(task).model
    with pytest.raises(InputError, match="have no answer `unknown`"):
        rote.abstention(model, task)
