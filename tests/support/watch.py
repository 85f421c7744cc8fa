"""A run that ends, and says early what is wrong.

pytest-timeout raises inside of a test that takes too long. What then cleans up may wait for the
same thing again, for ever. So a little later the process says where all its threads are, and ends:
with -n the rest of the tests goes on in another.
"""

import faulthandler
import os
from collections.abc import Generator

import pytest

PATIENCE_S = 60
_stderr = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_stderr] = os.dup(2)  # while nothing is captured


def pytest_sessionstart(session: pytest.Session) -> None:
    plugins = session.config.pluginmanager
    terminal = plugins.get_plugin("terminalreporter")
    if terminal is not None:
        plugins.register(_Failures(terminal))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    after = _timeout(item) + PATIENCE_S
    faulthandler.dump_traceback_later(after, exit=True, file=item.config.stash[_stderr])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _timeout(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0] if marker else item.config.getini("timeout"))


class _Failures:
    """Each by its name, when it happens."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message.partition("\n")[0] if crash else ""
            self._terminal.write_line(f"{report.nodeid} ({report.when}) {why}")
