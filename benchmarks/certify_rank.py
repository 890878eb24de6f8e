"""Recheck the certified range of the corrected Lemma 2: `python benchmarks/certify_rank.py [SHARE]`.

Sizes that the proof in docs/lemma2.md does not cover are certified by one exact instance each
(`rote.theory.exact_rank`). SHARE: the share of them to recheck, at random. Default: 1, all of them.
"""

from __future__ import annotations

import random
import sys
import time

from rote.theory.exact_rank import all_contexts, exact_rank
from rote.theory.rank_range import certified_sizes


def main() -> None:
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    sizes = [size for size in certified_sizes() if random.random() < share]
    start, failed = time.process_time(), []
    for size in sizes:
        found = exact_rank(all_contexts(size.vocab, size.context), size.dim, size.dim, size.heads, rank_one=True)
        if found != size.rank:
            failed.append((size, found))
            print(f"{size}: rank {found}", flush=True)
    print(f"{len(sizes)} instances, {len(failed)} short, {time.process_time() - start:.0f} CPU seconds")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
