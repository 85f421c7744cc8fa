"""samsa up --ephemeral: records and ledger in memory, and nothing on disk."""

import argparse

from samsa.local.memory_room import DEFAULT_BYTES
from samsa.runtime.in_memory import IN_MEMORY

from .options import DEFAULT_DATA, add_number, positive
from .up_security import Mistake

END = "Ctrl-C ends it, and everything in it is gone."


def add_to(up: argparse.ArgumentParser) -> None:
    up.add_argument(
        "--ephemeral",
        action="store_true",
        help="keep everything in memory and write nothing to the disk: for tests",
    )
    most = "of records and ledger together, with --ephemeral; above it, appends are refused"
    add_number(up, "--max-memory", positive, DEFAULT_BYTES, most, "BYTES")


def urls(given: argparse.Namespace) -> tuple[str, str] | None:
    """The stores, if they are in memory. Raises Mistake: it was told to use the disk, too."""
    if not given.ephemeral:
        return None
    chosen = {
        "--data": given.data != DEFAULT_DATA,
        "--ledger": given.ledger is not None,
        "--objects": given.objects is not None,
        "--fsync": given.fsync,
        "--secure": given.secure,
    }
    for name, is_given in chosen.items():
        if is_given:
            raise Mistake(f"--ephemeral keeps nothing on disk, and {name} does: leave one of them")
    return IN_MEMORY, IN_MEMORY
