"""Builds the documentation site: `make site`."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_reference import write_reference  # beside this file
from sphinx.application import Sphinx

import rote

project = "rote"
copyright = "the authors of rote, Apache-2.0"
version = release = rote.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"rote {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_sourcelink = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

os.environ |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "PYTHONWARNINGS": "ignore:IProgress not found"}
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
logging.getLogger("traitlets").setLevel(logging.WARNING)

autodoc_typehints = "description"
autodoc_typehints_description_target = "all"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_type_aliases = {name: name for name in ("Facts", "Changes")}


PAGES = {
    "../SECURITY.md": "security.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "../CHANGELOG.md": "changelog.md",
    "../benchmarks/README.md": "performance.md",
}
"""Files of the repository that are pages of the site."""


def link_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to files of the repository become links to their pages."""
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"]({path}", f"]({page}")


def link_included(app: Sphinx, relative: Path, parent: str, source: list[str]) -> None:
    """The same in a file that a page includes."""
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"]({path.removeprefix('../')}", f"](docs/{page}")
    source[0] = source[0].replace("](tables/", "](../benchmarks/tables/")


def setup(app: Sphinx) -> None:
    """Writes the pages that are made from code, and links those that are files of the repository."""
    app.connect("source-read", link_pages)
    app.connect("include-read", link_included)
    app.connect("builder-inited", lambda app: write_reference(Path(app.srcdir) / "reference" / "generated"))
