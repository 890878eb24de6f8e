"""A report as one HTML file that needs nothing else: styles and charts are inside, nothing is loaded, nothing runs."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rote.charts.svg import svg
from rote.display import number
from rote.experiments.files import write_text
from rote.report.document import Report
from rote.words import visible_lines

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def style_sheet() -> str:
    """The look that reports and pages share."""
    return files("rote.report").joinpath("templates/page.css").read_text(encoding="utf-8")


def seen(value: object) -> object:
    """What a template prints, with nothing hidden in it; what is markup already stays."""
    return visible_lines(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("rote.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.finalize = seen
    environment.filters["shown"] = number
    environment.filters["svg"] = lambda chart: Markup(svg(chart))
    environment.filters["kind"] = lambda element: type(element).__name__
    return environment


def html(report: Report) -> str:
    from markupsafe import Markup

    return _environment().get_template("report.html").render(report=report, style=Markup(style_sheet()))


def write_html(report: Report, path: str | Path) -> Path:
    return write_text(Path(path), html(report))
