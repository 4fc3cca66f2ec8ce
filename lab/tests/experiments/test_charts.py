import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from rulewright_lab.experiments.charts import (
    critical_difference_chart,
    curve_chart,
    printed_versus_ours_chart,
    save_chart,
)
from rulewright_lab.experiments.labels import place_labels
from rulewright_lab.experiments.statistics import rank_groups

RANKS = {"SLIPPER": 3.9, "LRI": 3.15, "RuleFit": 4.05, "ML.G": 1.85, "ML.N": 2.05}
POINTS = [
    {"set": "sonar", "learner": "ML.G", "printed": 0.12, "ours": np.float64(0.20)},
    {"set": "iris", "learner": "ML.G", "printed": 0.053, "ours": 0.052},
    {"set": "sonar", "learner": "ML.N", "printed": 0.154, "ours": 0.150},
    {"set": "letter", "learner": "ML.N", "printed": 0.088, "ours": math.nan},
    {"set": "zoo", "learner": "ML.N", "printed": None, "ours": 0.05},
]
CURVES = [
    {"series": name, "x": n, "y": level / n}
    for name, level in (("a", 1), ("b", 2))
    for n in range(5)
    if n
]
CHARTS = {
    "ranks": critical_difference_chart(RANKS, 1.364, title="Ranks"),
    "pairs": printed_versus_ours_chart(POINTS, "error", title="Pairs"),
    "curves": curve_chart(CURVES, title="Curves", x_title="rules", y_title="error"),
}
EVERY = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS.keys())


def drawn(chart):
    """Give the data of all layers, a list of rows for each."""
    whole = chart.to_dict()
    # Altair moves data that all layers share to the top.
    used = [layer.get("data", whole.get("data")) for layer in whole["layer"]]
    return [whole["datasets"][data["name"]] if "name" in data else data["values"] for data in used]


def written(chart, folder):
    save_chart(chart, folder / "chart.svg")
    return (folder / "chart.svg").read_text()


def segments_cross(one, two):
    """Tell whether a level and an upright segment meet inside both."""
    if one["y"] == one["y2"] and two["x"] == two["x2"]:
        level, upright = one, two
    elif two["y"] == two["y2"] and one["x"] == one["x2"]:
        level, upright = two, one
    else:
        return False
    across = sorted([level["x"], level["x2"]])
    down = sorted([upright["y"], upright["y2"]])
    return across[0] < upright["x"] < across[1] and down[0] < level["y"] < down[1]


class TestCriticalDifference:
    def test_shows_learners_ranks_and_difference(self, tmp_path):
        svg = written(CHARTS["ranks"], tmp_path)
        for text in (
            "ML.G 1.85",
            "LRI 3.15",
            "4.05 RuleFit",
            "CD = 1.364",
            "average rank",
            "Ranks",
        ):
            assert text in svg

    @given(st.lists(st.floats(1, 7), min_size=2, max_size=7), st.floats(0, 9))
    @examples(15)
    def test_bars_join_the_groups_of_the_statistics(self, values, cd):
        ranks = {f"learner {i}": value for i, value in enumerate(values)}
        rows = [row for data in drawn(critical_difference_chart(ranks, cd)) for row in data]
        bars = [row for row in rows if "group" in row]
        groups = rank_groups(ranks, cd)
        assert [bar["group"] for bar in bars] == [", ".join(group) for group in groups]
        for bar, group in zip(bars, groups, strict=True):
            assert bar["x"] < min(ranks[name] for name in group)
            assert bar["x2"] > max(ranks[name] for name in group)
        assert len({bar["y"] for bar in bars}) == len(bars)

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=7, unique=True))
    @examples(15)
    def test_lines_to_the_names_do_not_cross(self, shares):
        n = len(shares)
        ranks = {f"learner {i}": 1 + (n - 1) * share for i, share in enumerate(shares)}
        lines = [row for row in drawn(critical_difference_chart(ranks, 1.0))[0] if row["y2"] > 0]
        assert len(lines) == 2 * len(ranks)
        assert not any(segments_cross(one, two) for one in lines for two in lines)

    def test_a_long_name_has_room(self):
        name = "a learner with quite a long name"
        chart = critical_difference_chart({name: 1.2, "b": 1.8}, 0.5).to_dict()
        low, high = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
        pixels = (1 - low) / (high - low) * chart["width"]
        assert pixels > 6 * len(name)

    def test_what_is_no_diagram(self):
        with pytest.raises(ValueError, match="needs two learners or more, not 1"):
            critical_difference_chart({"a": 1.0}, 1.0)
        with pytest.raises(ValueError, match="ranks must be numbers from 1 on"):
            critical_difference_chart({"a": 1.0, "b": math.nan}, 1.0)


class TestPairs:
    def test_shows_the_far_set_and_both_axes(self, tmp_path):
        svg = written(CHARTS["pairs"], tmp_path)
        for text in ("sonar", "ML.G", "ML.N", "error, printed", "error, ours", "Pairs"):
            assert text in svg

    def test_points_without_a_figure_are_left_out(self):
        _, dots, *_ = drawn(CHARTS["pairs"])
        assert [(dot["set"], dot["learner"]) for dot in dots] == [
            ("sonar", "ML.G"),
            ("iris", "ML.G"),
            ("sonar", "ML.N"),
        ]

    def test_farthest_points_are_named_first(self):
        _, _, *names = drawn(printed_versus_ours_chart(POINTS, n_labels=1))
        assert [row["set"] for data in names for row in data] == ["sonar"]
        assert len(drawn(printed_versus_ours_chart(POINTS, n_labels=0))) == 2

    def test_the_diagonal_spans_the_axes(self):
        layers = CHARTS["pairs"].to_dict()["layer"]
        scales = [layers[0]["encoding"][axis]["scale"]["domain"] for axis in ("x", "y")]
        assert scales[0] == scales[1]
        ends = drawn(CHARTS["pairs"])[0]
        assert [[end["printed"], end["ours"]] for end in ends] == [[end, end] for end in scales[0]]

    def test_one_learner_needs_no_legend(self, tmp_path):
        points = [{**point, "learner": "only one"} for point in POINTS]
        assert "shape" not in printed_versus_ours_chart(points).to_dict()["layer"][1]["encoding"]
        del points[0]["learner"]
        assert "sonar" in written(printed_versus_ours_chart(points[:1]), tmp_path)


class TestCurves:
    def test_shows_series_and_titles(self, tmp_path):
        chart = curve_chart(CURVES, title="T", x_title="rules", y_title="error in %")
        svg = written(chart, tmp_path)
        for text in (">a<", ">b<", "rules", "error in %"):
            assert text in svg

    def test_logarithmic_axes_leave_out_what_is_not_positive(self):
        points = [{"x": x, "y": y} for x, y in ((0, 1), (1, 0), (10, 1), (1000, 50))]
        chart = curve_chart(points, log_x=True, log_y=True)
        assert [row["x"] for row in drawn(chart)[0]] == [10, 1000]
        x = chart.to_dict()["layer"][0]["encoding"]["x"]
        assert x["scale"]["type"] == "log"
        assert set(x["axis"]["values"]) >= {10, 20, 50, 100, 200, 500, 1000}
        assert len(drawn(curve_chart(points))[0]) == 4

    def test_many_decades_have_few_ticks(self):
        chart = curve_chart([{"x": 10.0**i, "y": i} for i in range(7)], log_x=True)
        ticks = chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]["values"]
        assert ticks == [10.0**i for i in range(7)]

    def test_many_learners_look_different(self):
        names = [f"learner {i}" for i in range(20)]
        points = [{**POINTS[0], "learner": name} for name in names]
        encoding = printed_versus_ours_chart(points).to_dict()["layer"][1]["encoding"]
        looks = zip(*(encoding[by]["scale"]["range"] for by in ("color", "shape")), strict=True)
        assert len(set(looks)) == 20


@pytest.mark.parametrize("draw", [printed_versus_ours_chart, curve_chart])
def test_nothing_to_draw(draw, tmp_path):
    assert "<svg" in written(draw([]), tmp_path)


@EVERY
def test_data_are_plain(chart):
    """No NumPy number and no NaN, which JSON does not know."""
    json.dumps(chart.to_dict(), allow_nan=False)


class TestDescriptions:
    """What charts show in words, for those who cannot see them."""

    def test_ranks(self):
        text = CHARTS["ranks"].to_dict()["description"]
        assert text.startswith("Ranks. Average ranks, the best first: ML.G 1.85, ML.N 2.05, LRI")
        assert "Not significantly different: ML.G, ML.N, LRI; " in text

    def test_pairs(self):
        text = CHARTS["pairs"].to_dict()["description"]
        assert "3 points: ours is lower at 2 and higher at 1" in text

    def test_curves(self):
        text = CHARTS["curves"].to_dict()["description"]
        assert "error over rules. a goes from 1 at 1 to 0.25 at 4." in text


class TestSave:
    @EVERY
    def test_svg(self, chart, tmp_path):
        assert written(chart, tmp_path).startswith("<svg")

    def test_png_and_html(self, tmp_path):
        save_chart(CHARTS["curves"], str(tmp_path / "chart.PNG"))
        assert (tmp_path / "chart.PNG").read_bytes().startswith(b"\x89PNG")
        save_chart(CHARTS["curves"], tmp_path / "chart.html")
        page = (tmp_path / "chart.html").read_text()
        assert "rules" in page
        assert "<script src=" not in page
        assert "cdn.jsdelivr" not in page

    @pytest.mark.parametrize("name", ["chart.gif", "chart", "svg"])
    def test_unknown_kinds(self, name, tmp_path):
        with pytest.raises(ValueError, match=rf"saved as \.svg, \.png or \.html, not '{name}'"):
            save_chart(CHARTS["curves"], tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_the_old_file_stays_when_writing_fails(self, tmp_path, monkeypatch):
        path = tmp_path / "chart.svg"
        path.write_text("old")

        def fail(*_):
            raise OSError("disk full")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            save_chart(CHARTS["curves"], path)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_nothing_is_written_when_drawing_fails(self, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise RuntimeError("no chart")

        monkeypatch.setattr("altair.LayerChart.save", fail)
        with pytest.raises(RuntimeError, match="no chart"):
            save_chart(CHARTS["curves"], tmp_path / "chart.svg")
        assert not list(tmp_path.iterdir())


class TestLabels:
    def test_a_lone_dot_is_named_to_the_right(self):
        (label,) = place_labels([(50, 50)], [(50, 50, "iris")], 200, 100)
        assert (label.align, label.y) == ("left", 50)
        assert label.x > 50

    def test_at_the_right_edge_to_the_left(self):
        (label,) = place_labels([(195, 50)], [(195, 50, "iris")], 200, 100)
        assert label.align == "right"
        assert label.x < 195

    def test_no_room_no_name(self):
        crowd = [(x, y) for x in range(0, 200, 5) for y in range(0, 100, 5)]
        assert place_labels(crowd, [(100, 50, "iris")], 200, 100) == []

    def test_names_do_not_meet(self):
        dots = [(100, 50), (102, 52), (98, 51)]
        labels = place_labels(dots, [(*dot, "sonar") for dot in dots], 200, 100)
        assert len(labels) == 3
        assert len({(label.align, label.y) for label in labels}) == 3
