"""`sam validate --lint` and `sam build`: no Docker, no matching Python, nothing but wheels."""

import re
import shutil
import struct
import sys
import tomllib
from pathlib import Path

import pytest
from support.sam import ROOT, sam, sam_folder
from support.template import read_template

MB = 1024 * 1024
AARCH64 = 183
"""ELF's number for the machine."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build")
    tools = folder / "tools"
    tools.mkdir()
    for tool in ("make", "sh", "cp", "rm", "find"):
        (tools / tool).symlink_to(shutil.which(tool))
    path = f"{tools}:{sam_folder()}"
    # The Python of this test is there, Docker and Lambda's Python are not.
    assert shutil.which("docker", path=path) is None
    assert shutil.which("python3.13", path=path) is None or sys.version_info[:2] == (3, 13)
    done = sam(
        "build",
        "--build-dir", str(folder / "build"),
        "--cache-dir", str(folder / "cache"),
        PATH=path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build"


def test_the_template_is_valid_and_lints_clean():
    done = sam("validate", "--lint")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is a valid SAM Template" in done.stdout


def test_everything_is_built(built: Path):
    template = read_template(built / "template.yaml")["Resources"]
    kinds = ("AWS::Serverless::Function", "AWS::Serverless::LayerVersion")
    names = {name for name, resource in template.items() if resource["Type"] in kinds}
    assert names == {path.name for path in built.iterdir() if path.is_dir()}
    for name in names:
        properties = template[name]["Properties"]
        assert properties.get("CodeUri", properties.get("ContentUri")) == name
    for name in names - {"SamsaLayer"}:
        assert (built / name / "app.py").exists()


def test_the_layer_is_small_and_holds_what_functions_need(built: Path):
    layer = built / "SamsaLayer" / "python"
    assert sum(file.stat().st_size for file in layer.rglob("*")) <= 50 * MB
    held = {path.name for path in layer.iterdir()}
    assert {"samsa", "crc32c", "cramjam", "obstore", "re2"} <= held
    assert {"gateway", "log", "handlers", "aws"} <= {
        path.name for path in (layer / "samsa").iterdir()
    }
    for room in ("cli", "shim", "local_api"):
        assert not (layer / "samsa" / room).exists()
    assert not list(layer.rglob("__pycache__"))


def test_every_binary_in_the_layer_is_for_arm_and_lambdas_glibc(built: Path):
    binaries = list((built / "SamsaLayer").rglob("*.so*"))
    assert len(binaries) >= 4
    for binary in binaries:
        head = binary.read_bytes()[:20]
        assert head[:4] == b"\x7fELF"
        assert struct.unpack_from("<H", head, 18) == (AARCH64,), binary
        wanted = re.findall(rb"GLIBC_2\.(\d+)", binary.read_bytes())
        assert max(map(int, wanted), default=0) <= 34, binary


def test_the_layers_pins_satisfy_the_packages_ranges():
    with (ROOT / "pyproject.toml").open("rb") as file:
        ranges = {
            re.split(r"[>=;]", line)[0].strip(): line
            for line in tomllib.load(file)["project"]["dependencies"]
        }
    lines = (ROOT / "layers/samsa/requirements.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(pins) <= set(ranges)
    for name, version in pins.items():
        least = ranges[name].partition(">=")[2].partition(";")[0].strip()
        assert numbers(version) >= numbers(least), name
    # What is left out only a server runs.
    assert set(ranges) - set(pins) <= {"prometheus-client", "uvloop", "websockets"}


def numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
