"""Which files this process has open."""

import os
from contextlib import suppress
from pathlib import Path


def open_below(folder: Path) -> list[str]:
    """Those that have no name any more, too. Empty where there is no /proc to ask."""
    found: list[str] = []
    with suppress(FileNotFoundError):
        for fd in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):  # what the folder itself was listed by
                found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return [path for path in found if path.startswith(f"{folder}/")]
