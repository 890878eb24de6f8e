"""What a graft is solved on: rewordings, made-up and similar names, and gates that follow words they did not see."""

from __future__ import annotations

import pytest
import torch
from tiny import WORDS, save_llama_like

import rote
from rote.lm.graft import classification
from rote.lm.graft.classification import classify
from rote.lm.graft.examples import reworded
from rote.lm.graft.names import made_up_names
from rote.lm.graft.rewordings import rewordings
from rote.lm.graft.sentences import sentences
from rote.lm.graft.separation import Start, separate
from rote.lm.questions import in_words, parse_template


def words_of(tmp_path, rows):
    path = tmp_path / "facts.csv"
    path.write_text(rows)
    return in_words(rote.facts(path, keys="words"))


@pytest.fixture
def cities(tmp_path):
    return words_of(tmp_path, "country,capital\nFrance,Paris\nItaly,Rome\nPeru,New Lima\n")


def test_rewordings_name_what_the_answer_column_and_the_templates_name(cities):
    template = parse_template("The main town of {country} is", cities.columns)
    texts = [one.text for one in rewordings(cities, {None: [template]}, "capital")[None]]
    assert all(any(name in text for text in texts) for name in ("capital", "main town", "Main town"))
    assert any(text.endswith("main town of {country} is") for text in texts)
    assert 0.3 < sum(text.startswith("{country}") for text in texts) / len(texts) < 0.6
    assert template.text not in texts
    assert len(texts) == len(set(texts))
    assert all("{country}" in text for text in texts)


def test_a_table_of_two_key_columns_is_reworded_by_wrapping_alone(tmp_path):
    table = words_of(tmp_path, "first,second,sum\nred,blue,dark\n")
    template = parse_template("{first} and {second} is", table.columns)
    texts = [one.text for one in rewordings(table, {None: [template]}, "sum")[None]]
    assert "Today, {first} and {second} is" in texts
    assert all("{first} and {second}" in text for text in texts)


def test_braces_in_a_relation_stay_text(tmp_path):
    table = words_of(tmp_path, "relation,country,answer\na {b},France,Paris\n")
    template = parse_template("{relation} of {country} is", table.columns)
    (found,) = rewordings(table, {"a {b}": [template]}, None).values()
    assert {"A {b} of France:", "- France:\n  - a {b}:"} <= {one.fill(table.keys[0]) for one in found}


def test_a_rewording_that_contradicts_a_stored_sentence_is_left_out(cities, tmp_path):
    source = rote.load_language_model(save_llama_like(tmp_path / "llama", "llama"))
    stored = sentences(source, cities, {None: [parse_template("The capital of {country} is", cities.columns)]}, "")
    same = {None: [parse_template("The capital of this is {country}", cities.columns)]}
    assert len(reworded(source, cities, same, "", stored)) == 3
    # The same prompts, stored with other answers.
    alike = {None: [parse_template("this {country}", cities.columns)]}
    told = sentences(source, cities, alike, "")
    wrong = [type(one)(0, one.template, one.prompt, (*one.answer[:-1], 2)) for one in told]
    assert reworded(source, cities, alike, "", wrong) == []


def test_names_are_disjoint_and_begin_no_stored_word(cities, tmp_path):
    more = [f"{a}{b}".capitalize() for a in ("kal", "mor", "ten", "vis", "dun") for b in ("ona", "eth", "ira", "opol")]
    source = rote.load_language_model(save_llama_like(tmp_path / "llama", "llama", [*WORDS, "Fran", *more]))
    names = made_up_names(source, cities, "nothing of note happened yesterday")
    lists = [names.made_up, names.similar, names.held_out, names.held_out_similar]
    assert all(lists)
    single = [name for one in lists for name in one if " " not in name]
    assert len(single) == len(set(single))
    assert not {"France", "Fran", "Italy", "Peru"} & set(single)
    assert not set(names.similar) & set(names.held_out_similar)


def reworded_classes(wordings):
    """Points of 20 classes in 40 dimensions, each moved far along the first 24 in every wording."""
    chance = torch.Generator().manual_seed(0)
    classes = torch.cat([torch.zeros(20, 24), torch.randn(20, 16, generator=chance)], 1) + 0.5
    spread = torch.cat([3 * torch.ones(24), torch.zeros(16)])
    return [classes + spread * torch.randn(20, 40, generator=chance) for _ in range(wordings)]


def test_soft_points_teach_which_directions_are_wording():
    seen = reworded_classes(12)
    two, more, unseen = seen[:2], seen[2:10], seen[10:]
    own = [[gate, 20 + gate] for gate in range(20)]
    soft = [[40 + 20 * wording + gate for wording in range(8)] for gate in range(20)]
    labels = torch.arange(20)
    plain = separate(torch.cat(two), own, labels.repeat(2), 0.72)
    taught = separate(torch.cat([*two, *more]), own, labels.repeat(10), 0.72, soft=soft)

    def opened(found):
        return sum(int(((points * found.weights).sum(1) > 0.8).sum()) for points in unseen)

    assert opened(taught) > 30
    assert opened(plain) < 25


def test_pressed_points_stay_lower_and_a_gate_that_cannot_is_solved_without():
    chance = torch.Generator().manual_seed(1)
    points = torch.randn(40, 30, generator=chance)
    points[39] = points[0] * 0.7
    labels = torch.cat([torch.arange(10), torch.full((30,), -1)])
    pressed = torch.ones(40)
    pressed[20:] = 1.4
    found = separate(points, [[gate] for gate in range(10)], labels, 0.72, pressed=pressed)
    scores = found.weights @ points.T
    assert float(scores[1:, 20:].max()) < 0.72 / 1.4 + 0.03
    # The last point is 0.7 of the first gate's own, so no function has it below half.
    assert float(scores[0, 39]) == pytest.approx(0.7, abs=0.03)
    assert float(found.own.min()) > 0.99


def test_a_start_that_separates_is_kept_and_another_moves_no_further_than_it_must():
    chance = torch.Generator().manual_seed(2)
    points = torch.randn(30, 20, generator=chance)
    own, labels = [[gate] for gate in range(10)], torch.cat([torch.arange(10), torch.full((20,), -1)])
    plain = separate(points, own, labels, 0.72)
    kept = separate(points, own, labels, 0.72, start=Start(1.5 * plain.weights, torch.full((10,), -0.4)))
    assert torch.allclose(kept.weights, 1.5 * plain.weights, atol=1e-5)
    assert torch.allclose(kept.own, 1.5 * plain.own - 0.4, atol=1e-4)
    # One gate begins where its own point scores too little: it alone moves, and by the least.
    offsets = torch.zeros(10)
    offsets[3] = -0.25
    moved = separate(points, own, labels, 0.72, start=Start(plain.weights, offsets))
    still = torch.arange(10) != 3
    assert torch.allclose(moved.weights[still], plain.weights[still], atol=1e-5)
    assert float(moved.own.min()) > 0.999
    assert float(moved.other.max()) < 0.75
    assert 0 < float((moved.weights[3] - plain.weights[3]).norm()) < float(plain.weights[3].norm())


@pytest.mark.parametrize("most", [4096, 16])
def test_classes_tell_unseen_words_and_stay_closed_elsewhere(most, monkeypatch):
    monkeypatch.setattr(classification, "CLASSES", most)
    monkeypatch.setattr(classification, "BATCH", 10)
    chance = torch.Generator().manual_seed(3)
    classes = torch.randn(20, 40, generator=chance)
    seen = [classes + 0.7 * torch.randn(20, 40, generator=chance) for _ in range(12)]
    text = torch.randn(400, 40, generator=chance)
    points = torch.cat([*seen[:10], text[:300]])
    gates = torch.cat([torch.arange(20).repeat(10), torch.full((300,), -1)])
    unknown = torch.arange(len(points)) >= 400
    found = classify(points, gates, unknown, 20)
    logits = torch.cat(seen[10:]) @ found.weights.T + found.offsets
    assert float((logits.argmax(1) == torch.arange(20).repeat(2)).float().mean()) > 0.8
    closed = text[300:] @ found.weights.T + found.offsets
    assert float((closed.amax(1) < 0).float().mean()) > 0.8
    again = classify(points, gates, unknown, 20)
    assert torch.equal(again.weights, found.weights)
    assert torch.equal(again.offsets, found.offsets)
