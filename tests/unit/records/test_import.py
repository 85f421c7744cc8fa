"""A cold start pays for every import, most of all for those it does not need."""

import subprocess
import sys

from samsa.records import checksum

LOADED = "import sys, samsa.records, samsa.records.legacy; print(*sys.modules)"


def test_importing_records_loads_no_codec_and_no_package_metadata():
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "samsa.records.legacy" in loaded
    assert not loaded & {"cramjam", "crc32c", "importlib.metadata", "argparse", "asyncio"}


def test_the_checksum_is_the_same_when_the_whole_package_must_be_imported(monkeypatch):
    monkeypatch.setattr(checksum, "_extension", lambda: None)
    assert checksum._function()(b"123456789") == checksum.crc32c(b"123456789") == 0xE3069283
