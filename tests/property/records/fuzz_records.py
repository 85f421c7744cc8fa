"""Coverage-guided fuzzing of every entry. Run it for as long as you like:

    python tests/property/records/fuzz_records.py -max_total_time=600

The first byte chooses the entry and how the rest is dressed up: as it is, or under a right checksum
so that the code behind the checksum is reached too.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

with atheris.instrument_imports(include=["samsa.records"]):
    from property.records.entries import ENTRIES, run
    from unit.records.old import framed

    from samsa.records import Record, build, read_header
    from samsa.records.batch import seal

HEADER = read_header(build([Record(offset, 0, None, b"") for offset in range(3)]))
NAMES = list(ENTRIES)


def _batch(data: bytes) -> bytes:
    return seal(HEADER._replace(attributes=data[0], count=data[0] >> 4), data[1:])


def _messages(data: bytes) -> bytes:
    return framed(data[: len(data) // 2]) + framed(data[len(data) // 2 :])


DRESSES = [bytes, _batch, _messages]


def one_input(data: bytes) -> None:
    if len(data) < 2:
        return
    entry, dress = NAMES[data[0] % len(NAMES)], DRESSES[data[0] // len(NAMES) % len(DRESSES)]
    run(entry, dress(data[1:]))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
