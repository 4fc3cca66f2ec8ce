"""`rulewright document`: files, places that are left, and errors."""

import pytest


def test_the_document_is_written_with_figures(cli, model, loans, tmp_path):
    """Groups, policies and notes appear; the places that are left are named on the terminal."""
    policy, notes = tmp_path / "policies.toml", tmp_path / "notes.toml"
    policy.write_text("[[policy]]\nkind = 'bounds'\ntarget_class = 'yes'\nhigh = 1.0\n")
    notes.write_text("purpose = 'Loans to customers'\n")
    options = ("--data", loans, "--by", "region", "--favourable", "yes", "--policies", policy)
    for name in ("card.md", "card.html"):
        path = tmp_path / name
        result = cli("document", model, *options, "--notes", notes, "-o", path)
        assert result.exit_code == 0, result.output
        assert "to be written by a person: provider, version, users" in result.stdout
        text = path.read_text()
        for part in ("Loans to customers", "Figures by group", "SHA-256", "proved", "By region"):
            assert part in text
    assert cli("document", model).stdout.startswith("# Rule model for repaid")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "card.pdf"), ".md or .html"),
        (("--by", "region"), "need --data FILE"),
        (("--notes", "missing.toml"), "missing.toml"),
    ],
)
def test_errors_are_named(cli_failure, model, args, message):
    """Other endings, options without rows and missing files are named."""
    assert message in cli_failure("document", model, *args)
