"""Do the three papers' assumptions hold inside MiniLM and SmolLM2? `python benchmarks/assumptions.py` writes
docs/assumptions.md, layer by layer, with the published table beside it.
"""

from __future__ import annotations

import time

import rote
from real_weights import DOCS, minilm, smollm2
from studies.assumptions_page import write_assumptions_page

TOKENS = {"MiniLM": 32, "SmolLM2-135M": 16}
"""A passage's tokens. SmolLM2 has more dimensions, so needs more passages of the same text."""

if __name__ == "__main__":
    probes = []
    for name, folder in (("MiniLM", minilm()), ("SmolLM2-135M", smollm2())):
        began = time.process_time()
        model = rote.load_language_model(folder, attentions=True)
        probes.append((name, rote.lm_assumptions(model, tokens=TOKENS[name])))
        print(f"{name}: {time.process_time() - began:.0f} s of CPU time", flush=True)
    command = "python benchmarks/assumptions.py"
    for path in write_assumptions_page(probes, DOCS / "assumptions.md", command):
        print(path)
