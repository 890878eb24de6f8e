"""Coverage: every statement, figure and question of the source papers and slides, and where rote has it."""

from __future__ import annotations

from pages.coverage.dana2024 import DANA2024_ITEMS
from pages.coverage.dana2025 import DANA2025_ITEMS
from pages.coverage.dana2025_published import DANA2025_PUBLISHED_ITEMS
from pages.coverage.item import STATUSES as STATUSES
from pages.coverage.item import Item as Item
from pages.coverage.item import Status as Status
from pages.coverage.kajitsuka2025 import KAJITSUKA2025_ITEMS
from pages.coverage.mahdavi2024 import MAHDAVI2024_ITEMS

COVERAGE: dict[str, tuple[Item, ...]] = {
    "Dana, Pydi, Chevaleyre 2025, preprint": DANA2025_ITEMS,
    "Dana, Pydi, Chevaleyre 2025, published version": DANA2025_PUBLISHED_ITEMS,
    "Dana 2024 (slides)": DANA2024_ITEMS,
    "Mahdavi, Liao, Thrampoulidis 2024": MAHDAVI2024_ITEMS,
    "Kajitsuka, Sato 2025": KAJITSUKA2025_ITEMS,
}
"""Items by source."""
