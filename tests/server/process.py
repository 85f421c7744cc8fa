"""A `samsa up` that a test may kill, stop, start again, and read the log of."""

import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.peer import Peer
from support.broker import Broker, listening, said, start, stop

METRICS = re.compile(r"http://127\.0\.0\.1:\d+/metrics")


class Samsa:
    """Later options win, so `--port` and `--data` among them replace the usual ones."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.options = options
        self.process = self._start(options)

    def _start(self, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        out = self.folder / "stdout"
        process = start(self.folder, out, options)
        self.broker = Broker(listening(process, out))
        return process

    @property
    def address(self) -> tuple[str, int]:
        return self.broker.address

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def peer(self) -> Peer:
        return Peer(self.address)

    def objects(self, topic_id: object = "") -> list[str]:
        """The keys of all objects, or of those of one topic."""
        root = self.data / "objects"
        keys = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        return sorted(key for key in keys if str(topic_id) in key and "/." not in key)

    def logged(self) -> list[str]:
        return (self.folder / "stderr").read_text().splitlines()

    def said(self) -> str:
        return said(self.folder)

    def kill(self) -> None:
        """As `kill -9`: it is gone when this returns."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        return stop(self.process)

    def again(self, *options: str) -> None:
        """Start on the same data and, unless the options say otherwise, on the same port."""
        port = str(self.address[1])
        self.process = self._start((*self.options, "--port", port, *options))

    def end(self) -> None:
        if self.process.poll() is None:
            status = self.stop()
            assert status == 0, f"samsa up ended with {status} on SIGTERM:\n{self.said()}"

    def resident(self) -> int:
        """Bytes of memory in use."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def most_resident(self) -> int:
        """Bytes of memory that were in use at any time."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found
        return int(found[1]) * 1024

    def metrics(self) -> dict[str, float]:
        found = METRICS.search((self.folder / "stdout").read_text())
        assert found, "started without --metrics-port"
        with urllib.request.urlopen(found[0], timeout=10) as answer:
            return parse(answer.read().decode())


def parse(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@contextmanager
def a_samsa(folder: Path, *options: str) -> Iterator[Samsa]:
    samsa = Samsa(folder, *options)
    try:
        yield samsa
    except BaseException:
        samsa.process.send_signal(signal.SIGKILL)
        samsa.process.wait()
        raise
    samsa.end()
