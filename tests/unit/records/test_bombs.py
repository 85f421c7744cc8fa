"""A batch may unpack to gigabytes. The limit must hold in memory, not only in the answer."""

import subprocess
import sys
from pathlib import Path

import pytest
from unit.records.bombs import MEGABYTE, bomb

from samsa.records import Codec, CorruptBatch, snappy
from samsa.records.compression import decompress

CODECS = [codec for codec in Codec if codec is not Codec.NONE]
PROCESS_STATUS = Path("/proc/self/status")

# Run in a process of its own: the peak of a whole test run says nothing about one call.
PEAK_GROWTH = """
import sys
from pathlib import Path
from unit.records.bombs import bomb
from samsa.records import Codec, CorruptBatch
from samsa.records.compression import compress, decompress

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

codec, limit = Codec(int(sys.argv[1])), int(sys.argv[2])
packed = bomb(codec, 256)
decompress(codec, compress(codec, bytes(1000)), 1000)
before = peak()
try:
    decompress(codec, packed, limit)
except CorruptBatch:
    print(peak() - before)
"""


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_what_it_claims_to_be(codec):
    assert decompress(codec, bomb(codec, 4), 4 * MEGABYTE) == bytes(4 * MEGABYTE)


@pytest.mark.skipif(not PROCESS_STATUS.exists(), reason="the peak is read from Linux's /proc")
@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_of_256_megabytes_costs_little_more_than_a_limit_of_8(codec):
    tests = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", PEAK_GROWTH, str(int(codec)), str(8 * MEGABYTE)],
        cwd=tests,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 20 * 1024


def test_a_snappy_block_that_boasts_is_refused_before_room_is_made():
    boast = b"\x80\x80\x80\x1e" + b"\x00" * 10
    with pytest.raises(CorruptBatch, match="claims"):
        decompress(Codec.SNAPPY, boast, 1 << 30)
    with pytest.raises(CorruptBatch, match="claims"):
        decompress(Codec.SNAPPY, snappy.XERIAL_HEADER + b"\x00\x00\x00\x0e" + boast, 1 << 30)
