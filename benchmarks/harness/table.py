"""From samples to one markdown table."""

from collections.abc import Iterator, Sequence

from .brokers import KAFKA, SAMSA
from .empty_brokers import KFAKE
from .rows import BEFORE, BUNDLE, FAR, KAFKA_WORKER, ROWS, TESTS, Row
from .samples import Samples

NOTHING = "—"
SEPARATOR = (":---", "---:", "---:", "---:", "---:", ":---")


def render(samples: Samples) -> str:
    """Beside Apache Kafka."""
    return _table(samples, ROWS, KAFKA)


def tests(samples: Samples) -> str:
    """Beside franz-go's imitation of Kafka."""
    return _table(samples, TESTS, KFAKE)


def bundle(samples: Samples) -> str:
    """Beside what the bundle grew from."""
    return _table(samples, BUNDLE, KAFKA_WORKER)


def far(samples: Samples) -> str:
    """Beside an older revision."""
    return _table(samples, FAR, BEFORE)


def _table(samples: Samples, wanted: Sequence[Row], rival: str) -> str:
    """Nothing if there is nothing in it."""
    rows = [_cells(row, rival, samples) for row in wanted if samples.has(row.key)]
    headings = ("what", SAMSA, rival, "ratio", "target", "met")
    return "\n".join(_line(cells) for cells in (headings, SEPARATOR, *rows)) if rows else ""


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, rival: str, samples: Samples) -> tuple[str, ...]:
    ratio = _ratio(row, rival, samples)
    return (
        row.what,
        _cell(row, SAMSA, samples),
        _cell(row, rival, samples),
        NOTHING if ratio is None else f"{ratio:.2f}×",
        _target(row),
        _met(row, ratio, _figure(row, SAMSA, samples)),
    )


def _figure(row: Row, side: str, samples: Samples) -> float | None:
    figures = samples.figures.get((row.key, side))
    return row.sum_up(figures) if figures else None


def _cell(row: Row, side: str, samples: Samples) -> str:
    figure = _figure(row, side, samples)
    if figure is None:
        return samples.words.get((row.key, side), NOTHING)
    return f"{_digits(figure)} {row.unit}"


def _digits(figure: float) -> str:
    if figure >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.1f}" if figure >= 10 else f"{figure:.2f}"


def _ratio(row: Row, rival: str, samples: Samples) -> float | None:
    ours, theirs = _figure(row, SAMSA, samples), _figure(row, rival, samples)
    return ours / theirs if ours is not None and theirs else None


def _target(row: Row) -> str:
    if row.most is not None:
        return f"≤ {row.most:g} {row.unit}"
    if row.least is not None:
        return f"≥ {row.least:g} {row.unit}"
    if row.target is None:
        return NOTHING
    return f"{'≥' if row.more_is_better else '≤'} {row.target:.3g}×"


def _met(row: Row, ratio: float | None, ours: float | None) -> str:
    if row.most is not None:
        return NOTHING if ours is None else _answer(ours <= row.most)
    if row.least is not None:
        return NOTHING if ours is None else _answer(ours >= row.least)
    if ratio is None:
        return NOTHING
    if row.target is None:
        return "ahead" if row.met(ratio) else "behind"
    return _answer(row.met(ratio))


def _answer(met: bool) -> str:
    return "yes" if met else "**no**"


def problems(samples: Samples) -> Iterator[str]:
    if samples.problems:
        yield "Problems seen:"
        yield ""
        yield from (f"- {problem}" for problem in samples.problems)
