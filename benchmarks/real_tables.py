"""What real tables take by theory, built and trained: `python benchmarks/real_tables.py [FOLDER]` writes
docs/real_tables.md and its figure.

Plans, models and tries are kept below FOLDER (default: runs/real-tables); started again, it resumes,
and when all is there it only writes the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from rote.cli.options import bars
from studies.real_tables import real_tables
from studies.real_tables_page import write_real_tables_page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "real_tables.md"

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs") / "real-tables"
    # One model at a time, each in one thread: CPU times are reported.
    torch.set_num_threads(1)
    tables = real_tables(folder, workers=1, progress=bars())
    for path in write_real_tables_page(tables, PAGE, "python benchmarks/real_tables.py"):
        print(path)
