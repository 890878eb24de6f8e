"""Does the training that Appendix B of Dana et al. (version 2) prints make the released values of Figure 1a?

`python benchmarks/printed_schedule.py [FOLDER]` trains the cells d = k = 4, 7 and 10 of Figure 1a as printed: "1000
batches of 2^10 elements each, and trained the model for 10 epochs. We used Adam with default parameters and a learning
rate of 10^-3. Each model was trained twice on different seeds". The run is kept below FOLDER (default:
runs/printed-schedule); the same command resumes it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from rote.cli.options import bars
from rote.experiments.lookups.schedule import LookupSchedule
from rote.experiments.reproduce import reproduce
from rote.papers.dana2025.heads import EXPERIMENT1, FIGURE1A
from rote.papers.kinds.lookups import Training
from rote.report.markdown import table_lines

PRINTED = Training(batches=1000, batch=2**10, epochs=10, peak=1e-3, final=1e-3)


def printed_figure():
    """Figure 1a with the printed training, under an id of its own."""
    cells = tuple(replace(cell, training=PRINTED) for cell in EXPERIMENT1.cells if cell.spec.dim in (4, 7, 10))
    return replace(FIGURE1A, experiment=replace(EXPERIMENT1, id="dana2025.fig1a-printed", cells=cells))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs") / "printed-schedule"
    run = reproduce(
        LookupSchedule.of(printed_figure(), protocol="paper", repeats=2), folder, workers=1, progress=bars()
    )
    rows = [
        [series.name, f"{point.x:g}", f"{point.mean('sampled'):.3f}", f"{point.cell.published:.3f}"]
        for series in run.findings.series
        for point in series.points
    ]
    print("\n".join(table_lines(["series", "heads H", "as printed", "released"], rows, [False, True, True, True])))
    for claim, verdict in run.findings.verdicts:
        print(f"{claim.id}: {verdict.outcome}, {verdict.why}")
