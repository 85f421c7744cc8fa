"""Figures as drawings, one function for each."""

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from math import cos, radians, sin
from typing import Any

import matplotlib

matplotlib.use("agg")  # set before pyplot is imported, which would look for a screen

import matplotlib.dates as dates
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .figures import PipelineFigures

INK, QUIET, LINE = "#1f2933", "#7b8794", "#e4e7eb"
BLUE, GREEN, AMBER, RED = "#2563a8", "#2f8f6b", "#d08a1d", "#c2483d"
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": LINE,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "svg.hashsalt": "samsa",  # the same figures are the same bytes
}
MOST_REASONS = 8
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def draw(figures: PipelineFigures) -> Figure:
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(3, 2, figsize=(13, 12.5), layout="constrained")
        figure.get_layout_engine().set(h_pad=0.18, w_pad=0.15)  # type: ignore[union-attr,call-arg]
        for one, plot in zip(axes.flat, PLOTS, strict=True):
            plot(one, figures)
        # Drawn before the style ends: ticks are made when they are first looked at.
        figure.canvas.draw()
    return figure


def save(figure: Figure, into: Any, kind: str) -> None:
    """As `svg` or `png`."""
    with plt.rc_context(STYLE):
        figure.savefig(into, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else {})


def close(figure: Figure) -> None:
    plt.close(figure)


def records(axes: Axes, figures: PipelineFigures) -> None:
    axes.set_title(f"Records per {spell(figures.step_s)}")
    _over_time(axes, figures, [bar.records for bar in figures.traffic], BLUE)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def sizes(axes: Axes, figures: PipelineFigures) -> None:
    axes.set_title(f"Bytes per {spell(figures.step_s)}")
    _over_time(axes, figures, [bar.size for bar in figures.traffic], GREEN)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))


def backlog(axes: Axes, figures: PipelineFigures) -> None:
    axes.set_title("How far the pipeline has read")
    rows = figures.backlog
    if not rows:
        return _nothing(axes, "the topic has no partitions")
    names = [f"partition {row.partition}" for row in rows]
    axes.barh(names, [row.read for row in rows], color=BLUE, height=0.55, label="read")
    left = [row.read for row in rows]
    axes.barh(
        names, [row.waiting for row in rows], left=left, color=AMBER, height=0.55, label="waiting"
    )
    for place, row in enumerate(rows):
        lag = f"  {row.waiting:,} waiting" if row.waiting else "  all read"
        axes.text(row.read + row.waiting, place, lag, va="center", color=QUIET)
    axes.set_xlim(0, max(1, *(row.read + row.waiting for row in rows)) * 1.22)
    axes.invert_yaxis()
    axes.set_xlabel("offset")
    return _bars_only(axes)


def without_letters(figures: PipelineFigures) -> str:
    """What it means that there are none."""
    if not figures.records:
        return "nothing has been read yet"
    if figures.unchecked:
        return f"{figures.unchecked:,} of {figures.records:,} records are not checked yet"
    return "every record could be read"


def reasons(axes: Axes, figures: PipelineFigures) -> None:
    total = sum(figures.reasons.values())
    axes.set_title(f"Dead letters: {total:,}, by reason")
    if not total:
        return _nothing(axes, without_letters(figures))
    chosen = dict(list(figures.reasons.items())[:MOST_REASONS])
    if rest := total - sum(chosen.values()):
        chosen["others"] = rest
    axes.barh(range(len(chosen)), list(chosen.values()), color=RED, height=0.34)
    for place, (reason, count) in enumerate(chosen.items()):
        axes.text(count, place, f"  {count:,}", va="center", color=QUIET)
        # Above its bar: beside it, a long one would push the plot to the side.
        axes.text(0, place - 0.25, reason, va="bottom")
    axes.set_xlim(0, max(chosen.values()) * 1.15)
    axes.set_ylim(-0.8, len(chosen) - 0.6)
    axes.set_yticks([])
    axes.invert_yaxis()
    return _bars_only(axes)


def speeds(axes: Axes, figures: PipelineFigures) -> None:
    axes.set_title("Average speed per truck, km/h")
    if not figures.windows:
        return _nothing(axes, "no window has passed its watermark yet")
    lines: dict[str, list[tuple[Any, float]]] = defaultdict(list)
    sums: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for window in figures.windows:
        lines[window.truck].append((window.start, window.speed))
        sums[window.start][0] += window.speed * window.positions
        sums[window.start][1] += window.positions
    for line in lines.values():
        axes.plot(*zip(*line, strict=True), color=BLUE, alpha=0.22, linewidth=1)
    whole = [(at, weighed / count) for at, (weighed, count) in sorted(sums.items())]
    axes.plot(*zip(*whole, strict=True), color=INK, linewidth=2.2, marker="o", markersize=3)
    axes.annotate("whole fleet", whole[-1], (6, 0), textcoords="offset points", va="center")
    axes.margins(x=0.09)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=LINE)
    return _clock(axes)


def places(axes: Axes, figures: PipelineFigures) -> None:
    axes.set_title("Where each truck was last")
    if not figures.places:
        return _nothing(axes, "no truck is on its way")
    east, north = [p.longitude for p in figures.places], [p.latitude for p in figures.places]
    headings = [radians(p.heading) for p in figures.places]
    axes.quiver(
        east, north, list(map(sin, headings)), list(map(cos, headings)),
        color=QUIET, scale=26, width=0.0035, headwidth=4, zorder=2,
    )  # fmt: skip
    dots = axes.scatter(
        east, north, c=[p.speed for p in figures.places], cmap="viridis",
        vmin=0, vmax=100, s=46, edgecolor="white", linewidth=0.8, zorder=3,
    )  # fmt: skip
    for place in figures.places if len(figures.places) <= 30 else ():
        name = place.truck.removeprefix("truck-")
        at = place.longitude, place.latitude
        axes.annotate(name, at, (5, 4), textcoords="offset points", fontsize=7, color=QUIET)
    bar = axes.figure.colorbar(dots, ax=axes, shrink=0.8, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("km/h")
    axes.set_aspect(1 / cos(radians(sum(north) / len(north))), adjustable="datalim")
    axes.set_xlabel("longitude")
    axes.set_ylabel("latitude")
    return axes.grid(color=LINE)


PLOTS: tuple[Callable[[Axes, PipelineFigures], None], ...] = (
    records,
    sizes,
    backlog,
    reasons,
    speeds,
    places,
)


def _over_time(axes: Axes, figures: PipelineFigures, heights: list[int], color: str) -> None:
    if not heights:
        return _nothing(axes, "nothing has been read yet")
    starts = [bar.at for bar in figures.traffic]
    width = timedelta(seconds=figures.step_s) * 0.86
    axes.bar(starts, heights, width=width, align="edge", color=color)  # type: ignore[arg-type]
    axes.grid(axis="y", color=LINE)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    return _clock(axes)


def _clock(axes: Axes) -> None:
    locator = dates.AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _bars_only(axes: Axes) -> None:
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(axis="x", color=LINE)


def _nothing(axes: Axes, why: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=QUIET)


def spell(seconds: int) -> str:
    """A length of time: `5 minutes`."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = seconds // unit
            return name if count == 1 else f"{count} {name}s"
    return "second" if seconds == 1 else f"{seconds} seconds"


def size_text(size: float) -> str:
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:,.3g} {name}"
    return f"{size:,.0f} B"
