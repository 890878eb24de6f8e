"""Every surface, and its share of the attempts."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from hostile.watch import Surface

SHARES = {
    "tables": 0.2, "descriptions": 0.1, "objects": 0.05, "command line": 0.2, "folders": 0.1, "ledgers": 0.05,
    "language models": 0.05, "page": 0.1, "strangers' folders": 0.1,
    "exports": 0.03, "strangers' models": 0.02,
}  # fmt: skip


def surfaces(store: Path, only: str = "") -> list[Surface]:
    """All surfaces, or the one of this name; what they damage is built below `store`.

    What takes long to import is imported here, so that no attempt is held to have taken that long.
    """
    modules = ["matplotlib.pyplot", "polars", "lmfit", "rote.report.reporting", "rote.lm.loading", "rote.web.app"]
    if only in ("", "language models", "strangers' models", "exports"):
        modules += ["transformers.models.auto", "transformers.models.llama.modeling_llama", "gguf"]
    if only in ("", "exports"):
        modules += ["rote.export", "lm_eval", "transformer_lens", "onnxruntime", "torch.onnx", "gguf"]
    for module in modules:
        import_module(module)
    from hostile.commands import CommandLines
    from hostile.language_models import LanguageModels
    from hostile.ledgers import Ledgers
    from hostile.model_folders import ModelFolders
    from hostile.pages import Pages
    from hostile.strangers import StrangersExports, StrangersFolders
    from hostile.strangers_models import StrangersModels
    from hostile.tables import Descriptions, Objects, Tables

    makers = {
        "tables": Tables,
        "descriptions": Descriptions,
        "objects": Objects,
        "command line": lambda: CommandLines(store / "commands"),
        "folders": lambda: ModelFolders(store / "folders"),
        "language models": lambda: LanguageModels(store / "language_models"),
        "ledgers": lambda: Ledgers(store / "ledgers"),
        "page": lambda: Pages(store / "page"),
        "strangers' folders": lambda: StrangersFolders(store / "strangers"),
        "strangers' models": lambda: StrangersModels(store / "strangers_models"),
        "exports": lambda: StrangersExports(store / "exports"),
    }
    if only and only not in makers:
        raise SystemExit(f"{only}: is none of {', '.join(makers)}")
    return [make() for name, make in makers.items() if only in ("", name)]
