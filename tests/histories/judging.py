"""The judge: Porcupine, with a model of an append-only log (judge/)."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from support import needs

LEGAL, ILLEGAL, UNDECIDED, UNREADABLE = range(4)
MOST_S = 60


class Verdict(NamedTuple):
    code: int
    said: str


def judge(history: Path) -> Verdict:
    command = [str(needs.history_judge()), "--seconds", str(MOST_S), str(history)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Verdict(done.returncode, done.stdout + done.stderr)
