"""The golf data of Quinlan's book: 14 days, four columns."""

DAYS = """\
sunny 85 85 false Don't
sunny 80 90 true Don't
overcast 83 78 false Play
rain 70 96 false Play
rain 68 80 false Play
rain 65 70 true Don't
overcast 64 65 true Play
sunny 72 95 false Don't
sunny 69 70 false Play
rain 75 80 false Play
sunny 75 70 true Play
overcast 72 90 true Play
overcast 81 75 false Play
rain 71 80 true Don't"""


def golf():
    """Give the columns and the classes."""
    outlook, temperature, humidity, windy, y = zip(*map(str.split, DAYS.splitlines()), strict=True)
    numbers = {"temperature": temperature, "humidity": humidity}
    X = {"outlook": list(outlook)} | {name: [*map(float, v)] for name, v in numbers.items()}
    return {**X, "windy": list(windy)}, list(y)
