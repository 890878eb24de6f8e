"""Pages about language models, made from small results: their numbers are those of the results, their figures exist."""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="language models need the package transformers")
sys.path.insert(0, str(Path(__file__).parents[1] / "lm"))

from rote.experiments.lm_capacity.reading import LmCapacity
from rote.lm.capacity.point import ROUNDINGS, LmCapacityPoint
from rote.lm.capacity.strings import StringShape
from rote.lm.capacity.subjects import LmSizes
from rote.lm.language_model import ParameterCount
from studies import architectures as meter_study
from studies.architectures import Study, StudyVariant
from studies.architectures_page import write_architectures_page
from studies.assumptions_page import write_assumptions_page
from studies.known_facts_page import write_known_facts_page
from studies.published_assumptions import PUBLISHED_ASSUMPTIONS

PNG = b"\x89PNG"
SHAPE = StringShape(vocab=32)


def a_reading(held: float, seconds: float) -> LmCapacity:
    """Held bits per parameter at the best of three loads after 80 steps; less after fewer, less at other loads."""

    def point(strings: int, share: float, seed: int, steps: int = 80) -> LmCapacityPoint:
        bits = 1000 * held * share + seed
        return LmCapacityPoint(
            strings=strings, steps=steps, rate=0.1, seed=seed, parameters=1000, embeddings=200,
            offered=strings * SHAPE.bits, held=bits, recalled=0, tokens=14 * strings, fresh_gain=-0.01,
            fresh_error=0.01, diverged=False, seconds=seconds * steps / 80, rounded=dict.fromkeys(ROUNDINGS, bits / 2),
        )  # fmt: skip

    points = [point(strings, share, seed) for strings, share in ((30, 0.9), (40, 1), (50, 0.8)) for seed in (0, 1)]
    fewer = [point(40, share, seed, steps) for steps, share in ((10, 0.4), (20, 0.7), (40, 0.9)) for seed in (0, 1)]
    return LmCapacity("x", "strings", SHAPE, ParameterCount(1000, 200), tuple(points), tuple(fewer), 0.1, 0)


def a_study() -> Study:
    variants = (
        StudyVariant("architecture", "quick", "gpt2", LmSizes(dim=8)),
        StudyVariant("architecture", "dense but slow", "llama", LmSizes(dim=8)),
        StudyVariant("depth against width", "one block", "llama", LmSizes(dim=8)),
        StudyVariant("depth against width", "four blocks", "llama", LmSizes(dim=4, layers=4)),
    )
    slow = a_reading(3.0, 4.0)
    return Study(variants, (a_reading(2.5, 2.0), slow, slow, a_reading(1.5, 2.0)))


def test_equal_time_takes_a_slow_architecture_at_fewer_steps():
    study = a_study()
    assert study.equal_seconds == 2.0
    assert study.at_equal_time(study.readings[0]) == pytest.approx(2.5, abs=0.01)
    # Half of the steps of the slow one take as long: .9 of what it held.
    assert study.at_equal_time(study.readings[1]) == pytest.approx(2.7, abs=0.01)
    assert math.isnan(study.at_equal_time(a_reading(3.0, 40.0)))
    assert [variant.name for variant, _ in study.distinct] == ["dense but slow", "quick", "four blocks"]


def test_the_page_of_architectures_has_a_verdict_on_the_published_figures(tmp_path):
    page, drawn = write_architectures_page(a_study(), tmp_path / "architectures.md", "make the page")
    text = page.read_text()
    assert drawn.read_bytes().startswith(PNG)
    assert "Most per parameter at equal size: dense but slow, 3.00 ± " in text
    assert "**3.6 bits per parameter** (Morris et al. 2025): 0 of 3 architectures are above it" in text
    assert "**2 bits per parameter** (Allen-Zhu and Li 2024): 2 of 3 architectures are above it" in text
    assert "tied ones once" in text
    for heading in ("## Architecture", "## Depth against width", "## Precision"):
        assert heading in text


def test_a_study_measures_each_model_once_and_goes_on(monkeypatch, tmp_path):
    asked = []

    def pretend(model, sizes, **options):
        asked.append(options["folder"])
        return replace(a_reading(2.0, 1.0), name=model)

    monkeypatch.setattr(meter_study, "lm_capacity", pretend)
    study = meter_study.meter_study(tmp_path)
    distinct = {variant.folder for variant in meter_study.VARIANTS}
    assert len(asked) == len(set(asked)) == len(distinct) < len(meter_study.VARIANTS)
    assert len(study.readings) == len(meter_study.VARIANTS)


def test_the_variants_of_the_study_have_about_the_same_size():
    from rote.lm.capacity.subjects import subject
    from rote.lm.language_model import count_parameters

    totals = {
        variant.folder: count_parameters(subject(variant.model, variant.sizes, SHAPE).make()).total
        for variant in meter_study.VARIANTS
    }
    assert 1280 <= min(totals.values()) <= max(totals.values()) <= 1390, totals


def test_the_page_of_assumptions_shows_every_layer_and_the_published_table(tmp_path):
    from tiny import WORDS, save_bert, save_gpt2

    from rote.lm.assumptions import lm_assumptions
    from rote.lm.loading import load_language_model

    text = " ".join(WORDS[number % len(WORDS)] for number in range(0, 700, 3))
    probes = []
    for name, save in (("BERT", save_bert), ("GPT-2", save_gpt2)):
        model = load_language_model(save(tmp_path / name), attentions=True)
        probes.append((name, lm_assumptions(model, text, number=18, tokens=6, subsets=20)))
    page, *drawn = write_assumptions_page(probes, tmp_path / "assumptions.md", "make the page")
    written = page.read_text()
    assert [path.name for path in drawn] == ["assumptions-bert.png", "assumptions-gpt-2.png"]
    assert all(path.read_bytes().startswith(PNG) for path in drawn)
    for name, found in probes:
        section = written.split(f"## {name}\n")[1].split("\n## ")[0]
        assert sum(line.startswith(f"| {layer.number} |") for layer in found.layers for line in section.splitlines())
        assert f"{found.parameters.total:,} parameters (all weights, tied ones once" in section
    assert all(row.model in written for row in PUBLISHED_ASSUMPTIONS)


def test_the_page_of_known_facts_shows_every_relation_template_and_fact(tmp_path):
    from tiny import save_gpt2

    from rote.lm.loading import load_language_model
    from rote.lm.recall import language_recall
    from rote.tasks.facts import facts

    table = tmp_path / "facts.csv"
    table.write_text("relation,country,answer\ncapital,France,Paris\ncapital,Italy,Rome\nkey,Peru,red\n")
    templates = ["The {relation} of {country} is", "what {relation} is {country}"]
    result = language_recall(
        load_language_model(save_gpt2(tmp_path / "gpt2")), facts(str(table), keys="words"), templates
    )
    page, drawn, every = write_known_facts_page(result, "GPT-2", "facts", tmp_path / "known.md", "make the page")
    text = page.read_text()
    assert drawn.read_bytes().startswith(PNG)
    assert all(f"| {template} |" in text for template in templates)
    with every.open(newline="") as file:
        rows = list(csv.DictReader(file))
    replies = [reply for reply in result.replies if reply.template == templates[0]]
    assert [(row["relation"], row["asked"], row["answer"]) for row in rows] == [
        (reply.relation or "", reply.prompt, reply.answer) for reply in replies
    ]
    assert sum(int(row["right"]) for row in rows) == sum(reply.first_token for reply in result.replies)
    assert "tied ones once" in text
