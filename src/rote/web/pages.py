"""Pages: templates filled on the server. Everything that a page shows is escaped unless it is one of our own charts."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from rote.charts.svg import svg
from rote.display import number
from rote.report.html import seen


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("rote.web"), PackageLoader("rote.report")]),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.finalize = seen
    environment.filters["shown"] = number
    environment.filters["svg"] = lambda chart: Markup(svg(chart))
    environment.filters["moment"] = _moment
    # An arrow that no line is broken in.
    environment.filters["arrow"] = lambda line: line.replace(" -> ", " → ")
    environment.filters["kind"] = lambda element: type(element).__name__
    return environment


def _moment(text: str | None) -> str:
    """A time in ISO form as people read it."""
    if text is None:
        return "never"
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def page(template: str, status: int = 200, **content: Any) -> HTMLResponse:
    """A template of this package, filled."""
    return HTMLResponse(_environment().get_template(template).render(**content), status)
