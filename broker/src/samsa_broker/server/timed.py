"""How long a coroutine keeps the event loop: its own steps, without what it waits for."""

from collections.abc import Coroutine, Generator
from functools import partial
from time import perf_counter
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class Timed(Generic[R]):
    """To be awaited once, in place of the coroutine."""

    __slots__ = ("_coroutine", "seconds")

    def __init__(self, coroutine: Coroutine[Any, Any, R]) -> None:
        self._coroutine = coroutine
        self.seconds = 0.0

    def __await__(self) -> Generator[Any, None, R]:
        step = partial(self._coroutine.send, None)
        while True:
            started = perf_counter()
            try:
                waits_for = step()
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self.seconds += perf_counter() - started
            try:
                yield waits_for
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:
                step = partial(self._coroutine.throw, error)
            else:
                step = partial(self._coroutine.send, None)
