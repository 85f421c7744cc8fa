"""Shows how far Spark is: a bar on a terminal, elsewhere a line at the end."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from pyspark import StatusTracker
from pyspark.sql import SparkSession

BAR = 24
LOOK_S = 0.5

Stages: TypeAlias = Mapping[int, tuple[int, int]]
"""For each stage: its finished tasks, and all its tasks."""


def bar(done: int, total: int) -> str:
    full = BAR * done // total if total else 0
    return f"[{'#' * full}{'.' * (BAR - full)}]"


def seen(before: Stages, active: Stages) -> dict[int, tuple[int, int]]:
    """All stages that were seen so far. One that is no longer active is done."""
    ended = {stage: (total, total) for stage, (_, total) in before.items() if stage not in active}
    return {**ended, **active}


@contextmanager
def progress(spark: SparkSession, what: str) -> Iterator[None]:
    """Show progress while the block runs. All that Spark does meanwhile counts."""
    shown = _Shown(what, spark.sparkContext.statusTracker())
    looking = threading.Thread(target=shown.look_on, name="progress", daemon=True)
    looking.start()
    try:
        yield
    finally:
        shown.stop.set()
        looking.join()
        shown.end()


class _Shown:
    def __init__(self, what: str, tracker: StatusTracker) -> None:
        self.stop = threading.Event()
        self._what = what
        self._tracker = tracker
        self._stages: dict[int, tuple[int, int]] = {}
        self._earlier = set(tracker.getActiveStageIds())
        """Stages of other work in this session, which do not count."""
        self._started = time.monotonic()  # noqa: TID251  # for people, who see it pass
        self._drawn = sys.stderr.isatty()

    def look_on(self) -> None:
        while not self.stop.wait(LOOK_S):
            self._stages = seen(self._stages, self._active())
            if self._drawn:
                self._draw()

    def end(self) -> None:
        self._stages = seen(self._stages, {})
        if self._drawn:
            self._draw()
            print(file=sys.stderr)
        else:
            print(f"{self._what}: {self._seconds():.0f} s", file=sys.stderr)

    def _active(self) -> dict[int, tuple[int, int]]:
        infos = {
            stage: self._tracker.getStageInfo(stage)
            for stage in self._tracker.getActiveStageIds()
            if stage not in self._earlier
        }
        return {
            stage: (info.numCompletedTasks, info.numTasks) for stage, info in infos.items() if info
        }

    def _draw(self) -> None:
        done, total = (sum(column) for column in zip(*self._stages.values(), (0, 0), strict=False))
        line = f"{bar(done, total)} {done}/{total} tasks, {self._what}  {self._seconds():.0f} s"
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def _seconds(self) -> float:
        return time.monotonic() - self._started  # noqa: TID251
