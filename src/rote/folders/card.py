"""The model card of a folder on the Hub: what the certificate states, and how to load and verify the model."""

from __future__ import annotations

from typing import Any

from rote.display import number
from rote.measure.certificate import Certificate
from rote.tasks.origin import Origin
from rote.version import __version__, pip_install
from rote.words import markdown

HEADER = """---
library_name: rote
tags:
- rote
- memorization
- associative-memory
---
"""


def model_card(repo: str, origin: Origin, provenance: dict[str, Any], certificate: Certificate | None) -> str:
    """`README.md` of a repository. Words from elsewhere are escaped: nothing in them begins a tag, a link or code.

    >>> import rote
    >>> built = rote.build({("capital", "France"): "Paris", ("capital", "Japan"): "Tokyo"})
    >>> card = model_card("me/capitals", built.origin, built.provenance, built.certificate)
    >>> "| recalled | 2 of 2 facts |" in card
    True
    """
    stated = {"method": provenance.get("method"), "facts from": origin.source}
    if certificate is not None:
        stated = {**certificate.shown(), **stated, "fingerprint of the facts": certificate.facts_fingerprint}
        stated["fingerprint of the weights"] = certificate.weights_fingerprint
    rows = [f"| {name} | {_shown(value)} |" for name, value in stated.items() if value is not None]
    return "\n".join(
        [
            f"{HEADER}# {markdown(repo)}",
            "",
            f"A model whose weights store a table of facts, made by rote {__version__}. It answers the keys of",
            "that table; it is not a language model.",
            "",
            "## Certificate",
            "",
            "| | |",
            "|---|---|",
            *rows,
            "",
            "The certificate is a claim. With the facts at hand, `rote.verify` recomputes it from the tensors.",
            "",
            "## Use",
            "",
            "```python",
            f"import rote  # {pip_install('hf')}",
            "",
            f'folder = rote.load("hf://{repo}", download=True)',
            "model = folder.model  # model.ask(*key) answers, model.to_torch() is an nn.Module",
            'assert rote.verify(folder, "FACTS.csv").holds  # your copy of the facts',
            "```",
            "",
        ]
    )


def _shown(value: Any) -> str:
    return markdown(value if isinstance(value, str) else number(value))
