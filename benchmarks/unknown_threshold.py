"""Made-up product codes that int8 models call unknown: sampled unknown keys against a threshold.

    python benchmarks/unknown_threshold.py

500 codes such as AA-01234 of 57,600,000 that could be asked. Rates are those that the certificate states, on 10,000
made-up keys, and those of 10,000 others afterwards. The factor on heads was chosen on seeds 0 to 2. The figures are in
docs/precision.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rote

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWX"
SEEDS = (3, 4, 5)


def product_codes(count: int, seed: int) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    codes: dict[str, str] = {}
    while len(codes) < count:
        letters = "".join(LETTERS[each] for each in rng.integers(24, size=2))
        codes[f"{letters}-{rng.integers(100_000):05d}"] = f"class{rng.integers(20)}"
    return codes


def main() -> None:
    threshold, sampled = {"unknown": True}, {"unknown": True, "unknown_keys": 2_500}
    runs: list[tuple[str, dict[str, Any], float]] = [("sampled keys", sampled, 1)]
    runs += [(f"threshold, {times} times the default heads", threshold, times) for times in (0.25, 0.5, 1, 1.5)]
    for name, reading, times in runs:
        for seed in SEEDS:
            task = rote.facts(product_codes(500, seed), keys="letters", **reading)
            built = rote.build(task, dtype="int8")
            if times != 1:
                spec = built.model.spec.to_config()
                sizes = {"dim": spec["dim"], "head_dim": spec["head_dim"], "heads": round(times * spec["heads"])}
                built = rote.build(task, dtype="int8", **sizes)
            seen, measured = built.summary(), built.certificate.measured
            low, high = measured["unknown_rate_low"], measured["unknown_rate_high"]
            after = rote.abstention(built.model, task)
            print(
                f"{name}, seed {seed}: {seen['bytes']:,} bytes of weights, {measured['stored_keys']} stored, "
                f"{seen['missed']} missed, margin {seen['min_margin']:.2f}; stated {measured['unknown_rate']:.4f} "
                f"({low:.4f} to {high:.4f}), measured {after.rate:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
