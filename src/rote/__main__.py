"""The entry point of `rote` and of `python -m rote`.

Ctrl-C and SIGTERM are held back by the first lines that rote runs, and delivered as soon as their handlers stand. Until
then nothing is imported that Python has not loaded by itself, so that a signal is either Python's own to answer, while
the interpreter starts, or rote's.
"""

from __future__ import annotations


def run() -> None:
    """Run the command line: signals are taken over before anything large is imported."""
    # Part of the interpreter, where `signal` has to be loaded.
    import _signal  # pyright: ignore[reportMissingModuleSource, reportMissingImports]

    if hasattr(_signal, "pthread_sigmask"):
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGTERM))
    import rote.interrupts as interrupts
    from rote.supervisor import supervise

    try:
        supervise()
        interrupts.install()
        from rote.cli import main

        code = main()
    except KeyboardInterrupt:  # before or after the command itself, which answers its own
        interrupts.leave()
    except (MemoryError, ImportError, RuntimeError, SystemError) as error:
        import sys

        message = interrupts.out_of_memory(error)
        if message is None:
            raise
        print(f"rote: {message}", file=sys.stderr)
        code = 2
    interrupts.end(code)


if __name__ == "__main__":
    run()
