"""A thread that does its work until it is told to stop."""

import threading
from abc import ABC, abstractmethod


class Background(ABC):
    """`work` is called once, in the thread, and looks at `over`. What it raises is raised again by
    `finish`."""

    def __init__(self, name: str, patience_s: float = 60.0) -> None:
        self.name = name
        self.over = threading.Event()
        self._patience_s = patience_s
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def work(self) -> None: ...

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.over.set()

    def finish(self) -> None:
        """It does nothing more when this returns."""
        self.stop()
        self._thread.join(self._patience_s)
        assert not self._thread.is_alive(), f"{self.name} hangs"
        if self._error is not None:
            raise AssertionError(f"{self.name} failed") from self._error

    def _run(self) -> None:
        try:
            self.work()
        except BaseException as error:
            self._error = error
