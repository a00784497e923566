from __future__ import annotations

import doctest
import math
import re
from xml.etree import ElementTree

import pytest

from spurgen.report import axes, chapters
from spurgen.report.axes import Scale, change, labels, number, percent, points, spread, ticks
from spurgen.report.charts import Bar, bars, intervals, key
from spurgen.report.heat import heat
from spurgen.report.lines import Series, legend, lines
from spurgen.report.scatter import scatter

NAN = math.nan
NS = "{http://www.w3.org/2000/svg}"


def parsed(chart: str) -> ElementTree.Element:
    """A chart as XML; every place in it is a number."""
    root = ElementTree.fromstring(chart)
    assert root.tag == f"{NS}svg" and root.get("role") == "img"
    assert root.find(f"{NS}title").text and root.find(f"{NS}desc").text
    assert not re.search(r"\b(nan|inf|None)\b", chart)
    return root


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [e for e in root.iter() if name in (e.get("class") or "").split()]


def words(root: ElementTree.Element) -> list[str]:
    return [e.text or "" for e in root.iter(f"{NS}text")]


@pytest.mark.parametrize("module", [axes, chapters])
def test_examples_hold(module):
    assert doctest.testmod(module).failed == 0


def test_a_bar_is_as_long_as_its_value():
    root = parsed(bars([Bar("a", 0.5, 0.25, 0.75, dots=(0.4, 0.6)), Bar("b", 0.1)], "t"))
    first, second = of_class(root, "bar")
    assert (first.get("x"), first.get("width")) == ("0.00%", "50.00%")
    assert second.get("width") == "10.00%"
    (whisker,) = of_class(root, "whisker")  # b has no interval
    assert (whisker[0].get("x1"), whisker[0].get("x2")) == ("25.00%", "75.00%")
    assert [dot.get("cx") for dot in of_class(root, "dot")] == ["40.00%", "60.00%"]
    assert {"a", "50%", "b", "10%"} <= set(words(root))


def test_bars_below_zero_end_at_zero():
    (bar,) = of_class(parsed(bars([Bar("a", -0.5)], "t", low=-1.0, high=1.0)), "bar")
    assert (bar.get("x"), bar.get("width")) == ("25.00%", "25.00%")


def test_a_second_bar_stands_below_the_first():
    root = parsed(bars([Bar("a", 0.5, second=Bar("then", 0.25, kind="best"))], "t"))
    first, second = of_class(root, "bar")
    assert float(second.get("y")) > float(first.get("y")) + 10
    assert "50% → 25%" in words(root)
    assert "then: 25%" in root.find(f"{NS}desc").text


def test_what_is_not_known_is_not_drawn():
    root = parsed(bars([Bar("a", NAN, NAN, NAN, dots=(NAN,)), Bar("b", 0.5, NAN, 0.6)], "t"))
    assert len(of_class(root, "bar")) == 1 and not of_class(root, "whisker") and not of_class(root, "dot")
    assert "–" in words(root)


@pytest.mark.parametrize(
    "chart",
    [
        bars([], "t"),
        intervals([], "t", text=points),
        lines([], "t"),
        lines([Series("a", [], [])], "t"),
        lines([Series("a", [1.0], [NAN])], "t"),
        lines([Series("a", [1.0], [0.5], [NAN], [NAN])], "t"),
        heat([], [], [], "t"),
        scatter([], [], [], [], "t", x_title="x", y_title="y"),
        scatter(["a"], [NAN], [0.5], ["best"], "t", x_title="x", y_title="y"),
    ],
)
def test_charts_of_nothing_are_charts(chart):
    parsed(chart)


def test_differences_stand_around_zero_and_hollow_where_undecided():
    root = parsed(intervals([Bar("a", 0.1, 0.05, 0.15), Bar("b", -0.1, -0.3, 0.1, solid=False)], "t", text=points))
    zero = float(of_class(root, "zero")[0].get("x1").rstrip("%"))
    a, b = of_class(root, "mark")
    assert float(a.get("cx").rstrip("%")) > zero > float(b.get("cx").rstrip("%"))
    assert "hollow" not in a.get("class") and "hollow" in b.get("class")
    assert "b: −10.0 pts, from −30.0 pts to +10.0 pts, not decided" in root.find(f"{NS}desc").text


def test_a_line_goes_through_its_points():
    chart = lines([Series("a", [0, 10], [0.0, 1.0], [0.0, 0.9], [0.1, 1.0])], "t", limits=(0.0, 1.0), height=260)
    root = parsed(chart)
    (line,) = of_class(root, "line")
    across, down = Scale(0, 10, 4, 97), Scale(0, 1, 214, 16)
    assert line.get("d") == f"M{across.at(0):.2f} {down.at(0):.1f}L{across.at(10):.2f} {down.at(1):.1f}"
    marks = of_class(root, "marker")
    assert [(m.get("x"), m.get("y")) for m in marks] == [("4.00%", "214.0"), ("97.00%", "16.0")]
    assert len(of_class(root, "band")) == 1


def test_a_line_leaves_out_what_is_not_known():
    (line,) = of_class(parsed(lines([Series("a", [0, 1, 2], [0.1, NAN, 0.3])], "t")), "line")
    assert line.get("d").count("L") == 1


def test_series_differ_by_more_than_colour():
    many = [Series(f"m{i}", [0, 1], [i / 20, i / 20]) for i in range(10)]
    marks = of_class(parsed(lines(many, "t")), "marker")
    shapes = [ElementTree.tostring(list(mark)[-1]) for mark in marks[::2]]
    assert len(set(shapes[:8])) == 8
    assert legend([s.name for s in many]).count("<li>") == 10
    assert "again1" in legend([s.name for s in many])


def test_a_heat_table_shades_each_row_by_its_own_sum():
    root = parsed(heat([[3, 1], [0, 4]], ["a", "b"], ["a", "b"], "t", text=lambda v: f"{v:.0f}", diagonal=True))
    cells = of_class(root, "cell")
    assert [float(c.get("fill-opacity")) for c in cells] == [0.45, 0.15, 0.0, 0.6]  # 0.6 × 3/4, 1/4, 0, 1
    assert ["right" in c.get("class") for c in cells] == [True, False, False, True]
    assert "a: 3 a, 1 b" in root.find(f"{NS}desc").text


def test_names_on_a_map_cover_neither_marks_nor_each_other():
    root = parsed(scatter(["alpha", "beta", "gamma"], [0.9, 0.91, 0.5], [0.2, 0.2, 0.2], ["plain"] * 3, "t",
                          x_title="x", y_title="y"))  # fmt: skip
    placed = [(e.get("dx"), e.get("dy")) for e in of_class(root, "label")]
    assert len(set(placed[:2])) == 2
    xs = [float(e.get("cx").rstrip("%")) for e in of_class(root, "mark")]
    assert xs[2] < xs[0] < xs[1]


def test_shares_on_a_map_stay_within_0_and_1():
    root = parsed(scatter(["a", "b"], [0.96, 0.99], [0.0, 1.0], ["plain"] * 2, "t", x_title="x", y_title="y"))
    assert not {"105%", "110%", "120%"} & set(words(root))


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a & b", '"x" onload="y"'])
def test_whatever_is_written_in_a_chart_is_text(hostile):
    for chart in (
        bars([Bar(hostile, 0.5, note=hostile)], hostile),
        intervals([Bar(hostile, 0.5)], hostile, text=points),
        lines([Series(hostile, [0, 1], [0, 1])], hostile, x_title=hostile),
        heat([[1]], [hostile], [hostile], hostile, row_title=hostile, column_title=hostile),
        scatter([hostile], [0.5], [0.5], ["plain"], hostile, x_title=hostile, y_title=hostile),
    ):
        root = parsed(chart)
        assert root.get("aria-label") == hostile and "<script" not in chart
    for list_ in (legend([hostile]), key([(hostile, "best")])):
        assert "<script" not in list_ and 'x" onload' not in list_


def test_ticks_are_round_and_within():
    assert ticks(0, 1) == pytest.approx([0, 0.5, 1.0])
    assert ticks(-0.31, 0.29) == pytest.approx([-0.2, 0.0, 0.2])
    assert spread([0.12, 0.48, NAN]) == pytest.approx((0.1, 0.5))
    assert spread([]) == (0.0, 1.0)
    low, high = spread([0.3, 0.3])
    assert low < 0.3 < high


def test_numbers_are_written_as_people_read_them():
    assert [percent(0.345, 1), percent(NAN), points(-0.012), points(0.0), number(2.0), change(0.5, 1)] == [
        "34.5%", "–", "−1.2 pts", "0.0 pts", "2.00", "+0.5",
    ]  # fmt: skip
    assert percent(-0.0001) == "0%"
    assert labels(["0%", "50%", "100%"]) == ["0%", "50%", "100%"]
    assert labels(["−10.0 pts", "+7.5 pts"]) == ["−10.0", "+7.5"]
    assert labels([]) == []
