"""`rote doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rote.cli.options import bars
from rote.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from rote.experiments.known_answers import KnownAnswer

MARKS = {True: "holds  ", False: "WRONG  ", None: "skipped"}


def doctor(*, device: str = "cpu", as_json: AsJson = False) -> int:
    """Check that numbers can be trusted on this machine, in less than a minute.

    Recomputes known answers: arithmetic, every engine and vector width against float64, models in closed form,
    published identities, threads. Exits 1 if an answer is wrong.

    Example: `rote doctor`

    Parameters
    ----------
    device
        A torch device.
    """
    from rote.experiments.doctor import doctor as ask

    result = ask(device, progress=bars())
    if as_json:
        print_json(result.summary())
        return 0 if result.trusted else 1
    for part in dict.fromkeys(answer.part for answer in result.answers):
        print(part)
        for answer in result.answers:
            if answer.part == part:
                print(f"  {MARKS[answer.holds]}  {answer.question}: {_given(answer)}")
    print(f"\ntraining engine: {result.engine}")
    print("numbers can be trusted here" if result.trusted else "numbers can NOT be trusted here")
    return 0 if result.trusted else 1


def _given(answer: KnownAnswer) -> str:
    """The answer, and the known one where the two differ."""
    return answer.given if answer.holds is None or answer.known == answer.given else f"{answer.given} ({answer.known})"
