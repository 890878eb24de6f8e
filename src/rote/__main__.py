"""The entry point of `rote` and of `python -m rote`."""

from __future__ import annotations

from rote import interrupts
from rote.supervisor import supervise


def run() -> None:
    """Run the command line: signals are taken over before anything large is imported."""
    try:
        supervise()
        interrupts.install()
        from rote.cli import main

        code = main()
    except KeyboardInterrupt:  # before or after the command itself, which answers its own
        interrupts.leave()
    except (MemoryError, ImportError, RuntimeError) as error:
        import sys

        message = interrupts.out_of_memory(error)
        if message is None:
            raise
        print(f"rote: {message}", file=sys.stderr)
        code = 2
    interrupts.end(code)


if __name__ == "__main__":
    run()
