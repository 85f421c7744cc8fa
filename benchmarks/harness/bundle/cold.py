"""A cold start of the gateway function: from the built layer alone, in a fresh process.

What is timed is what Lambda times as init: the import of the function's module, in which the
gateway is made. Python itself runs already, as it does there.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

from harness.anchors import REPOSITORY
from harness.process import run_well

BUILD_S = 300
START_S = 60
CODE = """
import sys, time
sys.path[:0] = sys.argv[1:3]
began = time.perf_counter()
import app
print(1000 * (time.perf_counter() - began))
"""


class Artifacts:
    """Built as for AWS, but for this machine."""

    def __init__(self, folder: Path) -> None:
        self._layer = self._make(folder, "layers/samsa", "SamsaLayer")
        self._function = self._make(folder, "functions/gateway", "GatewayFunction")

    def _make(self, folder: Path, source: str, name: str) -> Path:
        made = folder / name
        made.mkdir(parents=True)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        run_well(
            [
                "make", "-C", REPOSITORY / source, f"build-{name}", f"ARTIFACTS_DIR={made}",
                f"ARCH={platform.machine()}", f"PYTHON={sys.executable}",
                f"PYTHON_VERSION={version}",
            ],
            BUILD_S,
        )  # fmt: skip
        return made

    @property
    def megabytes(self) -> float:
        files = (file for file in self._layer.rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in files) / 2**20

    def start_ms(self) -> float:
        # Without an endpoint, as in an account: the TLS roots are read too.
        told = {"SAMSA_LEDGER": "dynamodb://samsa", "SAMSA_OBJECTS": "s3://samsa"}
        keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
        done = subprocess.run(
            [sys.executable, "-S", "-c", CODE, self._function, self._layer / "python"],
            env={"PATH": os.environ["PATH"], **told, **keys},
            capture_output=True,
            text=True,
            timeout=START_S,
            check=True,
        )
        return float(done.stdout)
