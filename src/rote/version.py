"""The version of rote, written here alone: the distribution's metadata are made from it."""

__version__ = "0.2.0"
DISTRIBUTION = "byrote"
"""What `pip install` calls rote; the name `rote` on the package index belongs to another project."""


def pip_install(extra: str | None = None) -> str:
    """The command that installs rote, with one of its extras."""
    return f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"
