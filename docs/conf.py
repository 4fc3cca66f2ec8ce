"""Settings of Sphinx for the site; its sources are collected by assemble.py."""

import re
from importlib import metadata
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

project = "rulewright"
author = "The rulewright developers"
release = metadata.version("rulewright")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
highlight_language = "none"
default_role = "code"
toc_object_entries = False  # the table on top of an API page is its contents

napoleon_google_docstring = False
napoleon_use_param = False  # types are prose, not names to look up
napoleon_use_rtype = False
suppress_warnings = ["ref.python"]  # a word of a type, such as shape, names several members
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"

html_theme = "furo"
html_title = "rulewright"
html_show_sphinx = False
html_math_renderer = "mathml"  # browsers draw it; MathJax would be fetched from the network
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]


def setup(app: Any) -> None:
    """Describe our own members only, take bars for absolute values, and draw formulas."""
    app.connect("autodoc-skip-member", _is_of_others)
    app.connect("autodoc-process-docstring", _with_bars)
    app.add_html_math_renderer("mathml", (_draw_math, None), (_draw_math, None))


def _is_of_others(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    owner = getattr(obj, "__module__", None) or ""
    return skip or owner.partition(".")[0] in ("sklearn", "abc") or name.endswith("_request")


def _with_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [re.sub(r"(``.*?``|`.*?`)|\|", lambda m: m[1] or r"\|", line) for line in lines]


def _draw_math(writer: Any, node: nodes.Element) -> None:
    block = isinstance(node, nodes.math_block)
    writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode
