"""docs/bounds.md lists exactly the results that are registered, as they state themselves."""

from pathlib import Path

from rote.theory import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "bounds.md"


def test_the_table_is_the_registry():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    table = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| `")]
    assert [row[0] for row in table] == [f"`{id}`" for id in sorted(RESULTS)]
    for id, kind, statement, conditions, source, *_ in table:
        result = RESULTS[id.strip("`")]
        assert (kind, statement, source) == (result.kind, result.statement, result.source)
        assert conditions
