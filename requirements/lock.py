"""Write run.txt and dev.txt: one lock, every version with the hashes of its files.

    make lock

dev.txt begins with run.txt and has only what that lacks, so that each version stands in one place.
The versions hold for every Python from 3.11 on and every machine that has wheels.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
OURS = ("samsa-core", "samsa-websocket", "samsa-broker", "pyspark-samsa")
COMPILE = [
    "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes", "--quiet",
    "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links",
    *(word for name in OURS for word in ("--no-emit-package", name)),
]  # fmt: skip
PIN = re.compile(r"^[A-Za-z0-9].*\n(?:    .*\n)*", re.MULTILINE)


def main() -> None:
    uv = sys.argv[1]
    more = ["--upgrade"] if "--upgrade" in sys.argv else []
    run, dev = HERE / "run.txt", HERE / "dev.txt"
    sources = [str(HERE / "run.in"), str(HERE / "dev.in")]
    subprocess.run([uv, *COMPILE, *more, "--output-file", str(run), sources[0]], check=True)
    with TemporaryDirectory() as folder:
        # What is there is what stays, unless --upgrade says otherwise.
        everything = Path(folder) / "lock.txt"
        everything.write_text(run.read_text() + "".join(PIN.findall(dev.read_text())))
        asked = [*more, "--constraints", str(run), "--output-file", str(everything), *sources]
        subprocess.run([uv, *COMPILE, *asked], check=True)
        pins = PIN.findall(everything.read_text())
    there = set(PIN.findall(run.read_text()))
    dev.write_text("-r run.txt\n" + "".join(pin for pin in pins if pin not in there))


main()
