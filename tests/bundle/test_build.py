"""`make bundle`, which is `sam validate --lint` and `sam build`: no Docker, nothing but wheels."""

import hashlib
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from support.needs import sam
from support.sam import ROOT, sam_environment
from support.template import read_template

MB = 1024 * 1024
AARCH64 = 183
"""ELF's number for the machine."""


HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
UNCHECKED = 1
"""The flags of bytecode that is taken without a look at its source (PEP 552)."""


class Build(NamedTuple):
    folder: Path
    said: str


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("build")
    tools = folder / "tools"
    tools.mkdir()
    for tool in ("make", "sh", "cp", "rm", "mkdir", "find", "sed"):
        (tools / tool).symlink_to(shutil.which(tool))
    path = f"{tools}:{sam()}"
    # The Python of this test is there, Docker is not.
    assert shutil.which("docker", path=path) is None
    target = folder / "build"
    done = subprocess.run(
        [
            "make", "bundle", f"SAM={sam() / 'sam'}", f"BIN={Path(sys.executable).parent}",
            f"BUILT={target / 'template.yaml'}",
            f"ARGS=--build-dir {target} --cache-dir {folder / 'cache'}",
        ],
        cwd=ROOT, env=sam_environment(PATH=path), capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return Build(target, done.stdout)


@pytest.fixture(scope="module")
def built(bundle: Build) -> Path:
    return bundle.folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def layer(target: Path, version: str) -> "subprocess.CompletedProcess[str]":
    target.mkdir()
    command = ["make", "-C", str(ROOT / "layers/samsa"), "build-SamsaLayer"]
    return subprocess.run(
        [*command, f"ARTIFACTS_DIR={target}"],
        env={**os.environ, "PYTHON": sys.executable, "PYTHON_VERSION": version},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_template_is_valid_and_lints_clean(bundle: Build):
    assert "is a valid SAM Template" in bundle.said


def test_what_was_built_says_for_which_python(built: Path):
    template = read_template(built / "template.yaml")
    assert template["Parameters"]["PythonVersion"]["Default"] == HERE
    assert template["Globals"]["Function"]["Runtime"] == {"Fn::Sub": "python${PythonVersion}"}
    binaries = [path.name for path in built.rglob("*.cpython-*.so")]
    assert binaries
    assert all(f"cpython-{HERE.replace('.', '')}-" in name for name in binaries)


def test_every_module_of_the_layer_has_bytecode_that_is_taken_as_it_is(built: Path):
    sources = list((built / "SamsaLayer" / "python").rglob("*.py"))
    assert len(sources) > 200
    for source in sources:
        code = Path(importlib.util.cache_from_source(str(source))).read_bytes()
        assert code[:4] == importlib.util.MAGIC_NUMBER
        assert int.from_bytes(code[4:8], "little") == UNCHECKED
        assert code[8:16] == importlib.util.source_hash(source.read_bytes())
        # Tracebacks name the place where Lambda mounts it, not the one where it was built.
        assert str(built).encode() not in code


def test_the_same_sources_give_the_same_bytecode_in_any_folder(built: Path, tmp_path: Path):
    done = layer(tmp_path / "again", HERE)
    assert done.returncode == 0, done.stderr

    one, other = built / "SamsaLayer", tmp_path / "again"
    sources = [path.relative_to(one) for path in one.rglob("*.py")]
    same = [path for path in sources if digest(one / path) == digest(other / path)]
    assert len(same) > 200  # all of them, unless somebody works on them meanwhile
    for path in same:
        code = Path(importlib.util.cache_from_source(str(path)))
        assert digest(one / code) == digest(other / code), path


def test_a_layer_for_another_python_is_built_without_it_and_has_no_bytecode(tmp_path: Path):
    other = "3.12" if HERE == "3.13" else "3.13"
    done = layer(tmp_path / "other", other)
    assert done.returncode == 0, done.stderr
    assert "no bytecode" in done.stderr
    assert list(tmp_path.rglob(f"*.cpython-{other.replace('.', '')}-*.so"))
    assert not list(tmp_path.rglob("__pycache__"))


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
    assert {"log", "handlers", "aws"} <= {path.name for path in (layer / "samsa").iterdir()}
    of_websocket = {path.name for path in (layer / "samsa_websocket").iterdir()}
    assert of_websocket - {"__pycache__"} == {"__init__.py", "envelope", "gateway", "pushes"}
    assert not (layer / "samsa_broker").exists()


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
    with (ROOT / "layers/samsa/pyproject.toml").open("rb") as file:
        ranges = {
            re.split(r"[>=;]", line)[0].strip(): line
            for line in tomllib.load(file)["project"]["dependencies"]
        }
    lines = (ROOT / "layers/samsa/requirements.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(pins) == set(ranges)
    for name, version in pins.items():
        least = ranges[name].partition(">=")[2].partition(";")[0].strip()
        assert numbers(version) >= numbers(least), name


def numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
