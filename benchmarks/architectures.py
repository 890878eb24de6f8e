"""Which architecture holds most bits per parameter? `python benchmarks/architectures.py [FOLDER]` writes
docs/architectures.md.

Every point is kept in a ledger below FOLDER (default: runs/architectures); started again, it resumes,
and when all is there it only writes the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rote.cli.options import bars
from studies.architectures import meter_study
from studies.architectures_page import write_architectures_page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architectures.md"

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs") / "architectures"
    # One after the other, each in one thread: CPU times are compared.
    study = meter_study(folder, workers=1, progress=bars())
    for path in write_architectures_page(study, PAGE, "python benchmarks/architectures.py"):
        print(path)
