"""Signs of life on stderr; stdout is kept for the table."""

import sys
import time

_STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - _STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)
