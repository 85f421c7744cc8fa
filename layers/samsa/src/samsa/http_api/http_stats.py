"""What the HTTP servers of this process count. A module of its own: metrics need no uvicorn."""

from collections import Counter

let_go: Counter[str] = Counter()
"""Connections that the server closed, by reason."""
