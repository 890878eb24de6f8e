"""Coverage of the last test run, a line a package, from the `.coverage` file that it left."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import coverage

SOURCE = Path(__file__).resolve().parents[1] / "src" / "rote"


def main() -> None:
    data = coverage.Coverage()
    data.load()
    statements, missed = defaultdict(int), defaultdict(int)
    for file in data.get_data().measured_files():
        path = Path(file)
        if SOURCE not in path.parents:
            continue
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        _, lines, _, absent, _ = data.analysis2(file)
        statements[package] += len(lines)
        missed[package] += len(absent)
    print("coverage of statements, by package")
    for package in sorted(statements):
        covered = 1 - missed[package] / max(1, statements[package])
        print(f"  {package:<14} {covered:6.1%}  of {statements[package]:,}")
    total = sum(statements.values())
    print(f"  {'all':<14} {1 - sum(missed.values()) / max(1, total):6.1%}  of {total:,}")


if __name__ == "__main__":
    main()
