"""The page: what matters most in large figures, the drawings, and the trucks as a table."""

import re
from html import escape
from io import StringIO

from matplotlib.figure import Figure

from .drawing import save, size_text
from .figures import MapPlace, PipelineFigures

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1f2933; background: #f5f7fa; margin: 0; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0 0 2px; }
p { color: #7b8794; margin: 0 0 20px; }
dl { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 20px; }
dl div { background: #fff; border-radius: 8px; padding: 10px 18px; flex: 1 1 130px; }
dt { color: #7b8794; font-size: 13px; }
dd { margin: 0; font-size: 24px; font-weight: 600; font-variant-numeric: tabular-nums; }
figure { background: #fff; border-radius: 8px; margin: 0 0 20px; padding: 14px; }
figure svg { width: 100%; height: auto; display: block; }
table { background: #fff; border-radius: 8px; width: 100%; border-spacing: 0; padding: 8px 14px; }
th, td { text-align: right; padding: 4px 8px; font-variant-numeric: tabular-nums; }
th { color: #7b8794; font-weight: 500; font-size: 13px; }
th:first-child, td:first-child { text-align: left; }
"""
HEADINGS = ("truck", "at (UTC)", "latitude", "longitude", "km/h", "heading")


def page(topic: str, figures: PipelineFigures, drawing: Figure) -> str:
    tiles = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in headlines(figures).items()
    )
    rows = "".join(map(_row, figures.places))
    heads = "".join(f"<th>{name}</th>" for name in HEADINGS)
    title = f"Topic {escape(topic)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main><h1>{title}</h1><p>{_span(figures)}</p>"
        f"<dl>{tiles}</dl><figure>{svg(drawing)}</figure>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></main></body></html>\n"
    )


def headlines(figures: PipelineFigures) -> dict[str, str]:
    return {
        "records": f"{figures.records:,}",
        "bytes": size_text(figures.size),
        "waiting": f"{figures.waiting:,}",
        "dead letters": f"{sum(figures.reasons.values()):,}",
        "windows": f"{len(figures.windows):,}",
        "trucks": f"{len(figures.places):,}",
    }


def svg(drawing: Figure) -> str:
    """To stand inside of HTML: without a prolog, and as wide as the page."""
    text = StringIO()
    save(drawing, text, "svg")
    inner = text.getvalue()
    whole = inner[inner.index("<svg") :]
    head, bracket, rest = whole.partition(">")
    return re.sub(r' (?:width|height)="[^"]*"', "", head) + bracket + rest


def _span(figures: PipelineFigures) -> str:
    if not figures.traffic:
        return "nothing has been read yet"
    first, last = figures.traffic[0].at, figures.traffic[-1].at
    return f"read from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC"


def _row(place: MapPlace) -> str:
    cells = (
        place.truck,
        f"{place.at:%Y-%m-%d %H:%M:%S}",
        f"{place.latitude:.4f}",
        f"{place.longitude:.4f}",
        f"{place.speed:.1f}",
        f"{place.heading:.0f}°",
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
