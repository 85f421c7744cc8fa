"""Make everything that the tests need, before the first of them begins.

    python tests/support/prepare.py

What uses the same tool is made one after the other, all else at the same time. What is there
already takes no time and is not mentioned. Under CI=true the first failure ends it; elsewhere the
tests that need what is missing are skipped, or say why they fail.
"""

import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from shutil import which

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.needs import NEEDS, Need

MENTIONED_AFTER_S = 1.0


def prepare(needs: Sequence[Need]) -> list[str]:
    """What could not be made, and why."""
    lanes = [
        list(lane)
        for _, lane in groupby(
            sorted(needs, key=lambda need: need.tools[:1]), lambda n: n.tools[:1]
        )
    ]
    with ThreadPoolExecutor(max(1, len(lanes))) as pool:
        return [problem for problems in pool.map(_prepare_lane, lanes) for problem in problems]


def _prepare_lane(needs: Sequence[Need]) -> list[str]:
    return [problem for need in needs if (problem := _prepare_one(need)) is not None]


def _prepare_one(need: Need) -> str | None:
    absent = [tool for tool in need.tools if which(tool) is None]
    if absent:
        return f"{need.what}: {' and '.join(absent)} is not installed"
    began = time.monotonic()
    mention = threading.Timer(MENTIONED_AFTER_S, _say, [f"making {need.what} (once) ..."])
    mention.start()
    try:
        need.make()
    except Exception as error:
        return f"{need.what}: {error}"
    finally:
        mention.cancel()
    took = time.monotonic() - began
    if took > MENTIONED_AFTER_S:
        _say(f"made {need.what} in {took:.0f} s")
    return None


def _say(line: str) -> None:
    print(f"  {line}", flush=True)


def main() -> int:
    problems = prepare(NEEDS)
    for problem in problems:
        _say(f"cannot make {problem}")
    return 1 if problems and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
