"""Text that fits on one line."""

SHOWN_LETTERS = 40


def escape_line(text: str) -> str:
    """Escape unprintable characters, so that the text fits on one line of a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]


def cut_line(text: str, most: int = SHOWN_LETTERS) -> str:
    """Write text in one line of limited length."""
    line = escape_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"
