"""The rows of an open ledger as a mapping: keys are read at once, results on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from rote.experiments.ledgers.ledger import Ledger, TrialKey, TrialRow


def ended_seeds(rows: Mapping[TrialKey, TrialRow]) -> Mapping[str, Set[int]]:
    """Seeds of the ended trials by the text of their cell, from any mapping of rows."""
    if isinstance(rows, LedgerRows):
        return rows.seeds
    seeds: dict[str, set[int]] = {}
    for key in rows:
        seeds.setdefault(key.cell, set()).add(key.seed)
    return seeds


class LedgerRows(Mapping[TrialKey, TrialRow]):
    """Rows of the ended trials, including those added since."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seeds = ledger.seeds()
        self._rows: dict[TrialKey, TrialRow] | None = None

    @property
    def seeds(self) -> Mapping[str, Set[int]]:
        """Seeds of the ended trials by the text of their cell."""
        return self._seeds

    def add(self, row: TrialRow, key: TrialKey) -> None:
        """Add the row of a trial that was recorded in the ledger."""
        self._seeds.setdefault(key.cell, set()).add(key.seed)
        if self._rows is not None:
            self._rows[key] = row

    def __contains__(self, key: object) -> bool:
        return isinstance(key, TrialKey) and key.seed in self._seeds.get(key.cell, ())

    def __getitem__(self, key: TrialKey) -> TrialRow:
        return self._read()[key]

    def __iter__(self) -> Iterator[TrialKey]:
        return iter(self._read())

    def __len__(self) -> int:
        return sum(map(len, self._seeds.values()))

    def _read(self) -> dict[TrialKey, TrialRow]:
        if self._rows is None:
            self._rows = {row.key: row for row in self._ledger.rows()}
        return self._rows
