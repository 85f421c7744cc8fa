"""What the HTTP servers of this process count. Apart from them: metrics do without uvicorn."""

from collections import Counter

let_go: Counter[str] = Counter()
"""Connections that were closed, by what was wrong with them."""
