"""Every table and figure of the papers: what reproduces it, and the page that shows them all."""

from rulewright_lab.experiments.papers.items import ITEMS
from rulewright_lab.experiments.papers.overview import NAME, overview
from rulewright_lab.experiments.papers.pages import Item, Page, read_page

__all__ = ["ITEMS", "NAME", "Item", "Page", "overview", "read_page"]
