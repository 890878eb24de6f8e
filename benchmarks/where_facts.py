"""Where SmolLM2-135M keeps the capitals: `python benchmarks/where_facts.py` writes docs/where_smollm2.md.

Runs every intervention on every head and MLP (kept in runs/where_facts, so that an interrupted run resumes), calibrates
the methods on models in which the place of every fact is known, and writes the page with its figures and CSV files.
`--calibrate` shows the calibration table alone and needs no weights.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

import rote
from real_weights import smollm2
from where.calibration import Score, calibrate
from where.findings import Findings
from where.measure import CASES, cpu_seconds, kept, measure
from where.page import calibration_table, write_csv
from where.text import write_page
from where.theory import theory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calibrate", action="store_true", help="show the calibration table alone")
    parser.add_argument("--page", action="store_true", help="write the page from what was run so far")
    asked = parser.parse_args()
    if asked.calibrate:
        print(calibration_table(calibrate()))
        return
    if not asked.page and not kept():
        measure(rote.load_language_model(smollm2(), attentions=True))
    scores: list[Score] = calibrate()
    cases = {case.name: Findings(case) for case in CASES if Findings(case).is_kept}
    layers = {found.case.relation: theory(found.paths) for found in cases.values() if found.case.known}
    write_csv("calibration", [asdict(score) for score in scores])
    for relation, lines in layers.items():
        write_csv(f"{relation}-theory", [asdict(line) for line in lines])
    write_page(cases, layers, scores, cpu_seconds())


if __name__ == "__main__":
    main()
