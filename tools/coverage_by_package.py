"""Coverage of the last test run, one line per package, from the `.coverage` file that it left.

Exit 1: it is below `fail_under` in pyproject.toml.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import coverage

SOURCE = Path(__file__).resolve().parents[1] / "src" / "rote"


def main() -> int:
    """Print the table; 1 if the total is below the floor."""
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
    covered = 1 - sum(missed.values()) / max(1, total)
    print(f"  {'all':<14} {covered:6.1%}  of {total:,}")
    floor = float(str(data.get_option("report:fail_under") or 0)) / 100
    if covered >= floor:
        return 0
    print(f"coverage {covered:.1%} is below the floor {floor:.0%} (fail_under in pyproject.toml)", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
