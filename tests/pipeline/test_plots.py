"""The page of plots, from figures that are known; what Spark counts is in test_trucks.py."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from pyspark_samsa.plots.drawing import close, draw, size_text, spell
from pyspark_samsa.plots.figures import (
    Backlog,
    Bar,
    MapPlace,
    PipelineFigures,
    TimeWindow,
    step_for,
)
from pyspark_samsa.plots.page import page, svg

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def figures(trucks: int = 3, bars: int = 4, unchecked: int = 0) -> PipelineFigures:
    names = [f"truck-{number:03d}" for number in range(trucks)]
    return PipelineFigures(
        step_s=60,
        traffic=[Bar(NOON + timedelta(minutes=n), 100 + n, 9_000 + n) for n in range(bars)],
        backlog=[Backlog(0, 200, 0), Backlog(1, 180, 26)] if bars else [],
        reasons={"it is not <JSON>": 7, "truck_id is missing": 2} if trucks else {},
        unchecked=unchecked,
        windows=[
            TimeWindow(NOON + timedelta(minutes=5 * n), name, 10, 60.0 + n)
            for n in range(3)
            for name in names
        ],
        places=[MapPlace(f"<{name}>", NOON, 50.0, 10.0, 80.0, 90.0) for name in names],
    )


@pytest.fixture
def drawn():
    made = []

    def drawn(what: PipelineFigures) -> str:
        made.append(draw(what))
        return page("trucks & trailers", what, made[-1])

    yield drawn
    for drawing in made:
        close(drawing)


def test_the_page_says_the_figures_and_nobody_s_name_is_taken_for_html(drawn):
    text = drawn(figures())
    tiles = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert tiles["records"] == "406"
    assert tiles["bytes"] == "36 kB"
    assert (tiles["waiting"], tiles["dead letters"]) == ("26", "9")
    assert "&lt;truck-001&gt;" in text
    assert "<truck-001>" not in text
    assert "<h1>Topic trucks &amp; trailers</h1>" in text


def test_the_drawing_is_one_whole_picture_inside_of_the_page(drawn):
    text = drawn(figures())
    inner = text[text.index("<svg") : text.index("</svg>") + len("</svg>")]
    root = ElementTree.fromstring(inner)
    assert root.get("width") is None, "it is as wide as the page"
    assert root.get("viewBox")
    HTMLParser(convert_charrefs=True).feed(text)
    assert "http" not in re.sub(
        r'"http://www\.(w3\.org|inkscape)[^"]*"', "", text[: text.index("<svg")]
    )


def test_the_same_figures_are_the_same_picture():
    once, again = draw(figures()), draw(figures())
    assert svg(once) == svg(again)
    close(once)
    close(again)


def test_nothing_yet_is_drawn_too(drawn):
    assert "nothing has been read yet" in drawn(figures(trucks=0, bars=0))


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (figures(trucks=0, bars=0), "nothing has been read yet"),
        (figures(trucks=0, unchecked=400), "400 of 406 records are not checked yet"),
        (figures(trucks=0), "every record could be read"),
    ],
)
def test_that_there_are_no_dead_letters_means_something_if_records_were_checked(
    of: PipelineFigures, said: str
):
    """After a run that failed there are none either."""
    drawing = draw(of)
    texts = [text.get_text() for axes in drawing.axes for text in axes.texts]
    close(drawing)
    means = {"every record could be read", "nothing has been read yet", said} & set(texts)
    assert said in means
    assert ("every record could be read" in means) == (said == "every record could be read")


def test_lengths_of_time_and_sizes_are_told_as_people_do():
    assert [spell(s) for s in (1, 15, 60, 300, 3_600, 86_400)] == [
        "second", "15 seconds", "minute", "5 minutes", "hour", "day",
    ]  # fmt: skip
    assert [size_text(n) for n in (0, 999, 1_500, 2_000_000, 3.5e9)] == [
        "0 B", "999 B", "1.5 kB", "2 MB", "3.5 GB",
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [0, 50, 3_600, 86_400, 40 * 86_400])
def test_a_plot_over_time_has_neither_one_bar_nor_hundreds(seconds: int):
    bars = seconds / step_for(seconds)
    assert bars <= 72
    assert bars >= 10 or seconds < 10
