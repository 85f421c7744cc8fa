"""What the commands share that serve until they are stopped."""

import argparse
import asyncio
import sys
from collections.abc import Coroutine
from typing import Any


def serve(main: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def fail(why: str) -> int:
    print(f"samsa: {why}", file=sys.stderr)
    return 1


def explain(error: Exception, given: argparse.Namespace) -> str:
    text = getattr(error, "strerror", None) or str(error)
    if isinstance(error, OSError) and "in use" in text and "://" not in text:
        return (
            f"port {given.port} on {given.host} is taken. "
            "Another broker may be running; --port 0 picks a free one"
        )
    name = getattr(error, "filename", None)
    return f"{name}: {text}" if name else text
