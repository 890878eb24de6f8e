"""Ten thousand bad inputs: what rote does when it is given something wrong.

    python benchmarks/bad_inputs.py [COUNT] [SURFACE[:NUMBER]]

Tables, descriptions of facts, Python objects, command lines, model folders, language models and requests to the page
(tests/hostile), each drawn from its own seed, in one process under a watch: what is counted are tracebacks, attempts of
more than 5 seconds of CPU time, files left behind, and memory. Exit 1 if there was any. `page:17` runs one case
again.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from hostile.surfaces import SHARES, surfaces
from hostile.watch import Verdict, limit_memory, watched

COUNT = 10_000


def main(words: list[str]) -> int:
    count = int(words.pop(0)) if words and words[0].isdigit() else COUNT
    only, _, number = (words[0] if words else "").partition(":")
    warnings.simplefilter("ignore")
    os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
    start, verdicts = time.process_time(), []
    with tempfile.TemporaryDirectory() as place:
        os.environ["HOME"] = place
        chosen = surfaces(Path(place) / "store", only)
        limit_memory()
        for surface in chosen:
            share = count if only else round(count * SHARES[surface.name])
            for case in [int(number)] if number else range(share):
                # A call into C that never returns is ended here, with its place.
                faulthandler.dump_traceback_later(120, exit=True)
                verdict = watched(surface, case, Path(place) / "scratch")
                verdicts.append(verdict)
                for flaw in verdict.flaws:
                    print(f"{verdict.case}: {flaw}", flush=True)
        faulthandler.cancel_dump_traceback_later()
    _table(verdicts, time.process_time() - start)
    return 1 if any(verdict.flaws for verdict in verdicts) else 0


def _table(verdicts: list[Verdict], seconds: float) -> None:
    print("| surface | inputs | refused | tracebacks | hangs | files left | slowest, s | peak memory, MB |")
    print("|---|---|---|---|---|---|---|---|")
    names = list(dict.fromkeys(verdict.case.partition(":")[0] for verdict in verdicts))
    for name in [*names, "all"]:
        own = [verdict for verdict in verdicts if name in ("all", verdict.case.partition(":")[0])]
        kinds = Counter(flaw.split()[0].rstrip(":") for verdict in own for flaw in verdict.flaws)
        print(
            f"| {name} | {len(own):,} | {sum(not verdict.accepted for verdict in own):,} | {kinds['traceback']} "
            f"| {kinds['hangs']} | {kinds['leaves']} | {max(verdict.seconds for verdict in own):.1f} "
            f"| {max(verdict.memory for verdict in own) / 1e6:,.0f} |"
        )
    print(f"\n{seconds:.0f} s of CPU time")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
