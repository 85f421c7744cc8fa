"""Two readers of one topic, who tell what is committed and what is not yet."""

import time
from collections.abc import Callable

from frameworks.programs import Program
from frameworks.reading import Reader

OPEN = 20
"""Records of an open transaction that are enough to be worth killing for."""
PATIENCE_S = 180.0
"""On a busy machine a worker takes a minute to come back."""


class Watch:
    """Of a topic to which one program writes."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.committed = Reader(bootstrap, topic)
        self.all = Reader(bootstrap, topic, "read_uncommitted")

    def wait_for_a_commit(self, program: Program) -> None:
        self.wait_for(program, self.committed.look() + 1)

    def wait_for(self, program: Program, records: int) -> None:
        self._wait_until(lambda: self.committed.look() >= records, program)

    def wait_for_an_open_transaction(self, program: Program) -> None:
        """Records have come since the last commit. What was never committed of former transactions
        does not count."""
        before = self._counts()

        def is_open() -> bool:
            nonlocal before
            committed, all_of_them = self._counts()
            if committed != before[0]:
                before = committed, all_of_them
            return all_of_them >= before[1] + OPEN

        self._wait_until(is_open, program)

    def _counts(self) -> tuple[int, int]:
        return self.committed.look(), self.all.look()

    def _wait_until(self, is_true: Callable[[], bool], program: Program) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_true():
            program.raise_if_ended()
            assert time.monotonic() < deadline, f"{len(self.committed.found)} are committed"
            time.sleep(0.02)

    def close(self) -> None:
        self.committed.close()
        self.all.close()
