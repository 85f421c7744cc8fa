"""What a broker's process takes of the machine."""

import re
from pathlib import Path

import psutil


def cpu_seconds(pid: int) -> float:
    spent = psutil.Process(pid).cpu_times()
    return float(spent.user + spent.system)


def fine_cpu_seconds(pid: int) -> float:
    """The same in nanoseconds, of the threads that there are; only Linux counts them."""
    counted = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(one.split()[0]) for one in counted) / 1e9 if counted else cpu_seconds(pid)


def resident_mb(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss / 1e6)


def peak_resident_mb(pid: int) -> float | None:
    """Only Linux remembers it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found.group(1)) * 1024 / 1e6 if found else None


class CpuMeter:
    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = cpu_seconds(pid)

    def lap(self) -> float:
        """CPU seconds since the last lap."""
        now = cpu_seconds(self._pid)
        spent, self._before = now - self._before, now
        return spent
