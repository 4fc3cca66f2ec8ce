"""The page of a card: items with boxes, blocks of ranges, and totals with intervals."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from builders import cards, mixed_table, mlrules
from rulewright import load_model, write_card
from rulewright.cli.main import app
from rulewright.report import card_html

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def card():
    """Fit a card to rows of two classes."""
    return cards(max_rules=6, max_conditions=1).fit(*mixed_table(np.random.default_rng(2), 300))


def test_the_page_has_every_item_and_total(card, tmp_path):
    """Each entry has one box, besides that of the total; the page loads nothing."""
    write_card(card, tmp_path / "card.html", title="Risk <1>")
    page = (tmp_path / "card.html").read_text()
    model = card.model_
    assert page.count('class="box"') == len(model.entries) + 1
    assert "Risk &lt;1&gt;" in page
    assert "@media print" in page
    assert not re.search(r'(?:src|href)="', page)
    for line in model.summary["card"]["totals"]:
        assert f'<td class="n">{line["weight"]:,.0f}</td>' in page
    assert sum(line["weight"] for line in model.summary["card"]["totals"]) == 300


def test_probabilities_stay_without_training_counts(card):
    """A card whose summary is gone still lists its totals."""
    page = card_html(card.model_.with_summary({}))
    assert "observed" not in page
    assert "probability" in page


def test_other_models_are_refused():
    """Only cards of two classes have a page."""
    rows = mixed_table(np.random.default_rng(3), 60)
    with pytest.raises(ValueError, match="to_card makes one"):
        card_html(mlrules().fit(*rows))


def run(*arguments):
    """Run the command line."""
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_the_command_line_makes_a_card(tmp_path):
    """A model becomes a card and a page; a card needs no rows."""
    columns, y = mixed_table(np.random.default_rng(5), 200)
    rows = zip(*columns.values(), y.tolist(), strict=True)
    lines = [",".join("" if v is None or v != v else str(v) for v in row) for row in rows]
    data, model = tmp_path / "rows.csv", tmp_path / "model.json"
    data.write_text("\n".join([",".join([*columns, "y"]), *lines]))
    mlrules().fit(columns, y).model_.save(model)
    needs = run("card", model)
    assert needs.exit_code == 2
    made = run(
        *("card", model, data, "--target", "y", "--max-rules", 4, "--double", 20),
        *("-o", tmp_path / "card.html", "--save", tmp_path / "card.json"),
    )
    assert made.exit_code == 0, made.output
    assert "RuleCard:" in made.output
    assert len(load_model(tmp_path / "card.json")) <= 4
    again = run("card", tmp_path / "card.json", "-o", tmp_path / "again.html")
    assert again.exit_code == 0
    assert (tmp_path / "again.html").read_text() == (tmp_path / "card.html").read_text()
