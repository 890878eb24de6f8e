"""`rote report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rote.cli.options import Figures, ReadingOptions, bars, read_facts
from rote.cli.output import AsJson, print_json


def report(
    *paths: Annotated[Path, Parameter(help="Model folders and runs.")],
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("report.html"),
    markdown: Path | None = None,
    figures: Figures = ("png", "pdf"),
    title: str | None = None,
    facts: str | None = None,
    reading: ReadingOptions | None = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file on models and runs: figures, claims with verdicts, certificates, commands.

    The file is self-contained and can be sent. Pointing at a mark of a figure shows its numbers.

    Example: `rote report model runs/sweep -o report.html`

    Parameters
    ----------
    output
        The HTML file.
    markdown
        Also write the report into this folder as files for a paper: Markdown, one CSV per table, and figures.
    figures
        Formats of those figures.
    title
        Title of the report.
    facts
        The facts that the models store. Default: the sources that their folders name.
    """
    from rote.errors import InputError

    if not paths:
        raise InputError("rote report: missing PATHS; name model folders and runs")
    task = None if facts is None else read_facts(facts, reading)

    from rote.report.html import write_html
    from rote.report.reporting import report_on

    document = report_on(paths, title=title, task=task, progress=bars())
    output.parent.mkdir(parents=True, exist_ok=True)
    written = [write_html(document, output)]
    if markdown is not None:
        from rote.report.markdown import write_markdown

        written += write_markdown(document, markdown, figures)
    if as_json:
        print_json({"report": str(output), "files": [str(path) for path in written], "bytes": output.stat().st_size})
        return
    print(f"Report: {output} ({output.stat().st_size / 1024:,.0f} KiB, needs no network)")
    if markdown is not None:
        print(f"Files for a paper: {written[1]} and {len(written) - 2} figures and tables")
