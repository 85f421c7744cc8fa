"""The Dockerfile and compose.yaml: checked, and run as far as that goes without Docker."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from server.process import Samsa
from support.broker import SAMSA
from support.sam import ROOT
from support.tools import absent

DOCKERFILE = ROOT / "Dockerfile"
TEXT = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text("utf-8"))
IGNORED = (ROOT / ".dockerignore").read_text("utf-8").splitlines()


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", TEXT, re.MULTILINE)


def hadolint(file: Path) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("hadolint")
    if not tool.exists():
        absent("hadolint", "it checks the Dockerfile")
    return subprocess.run([tool, "--strict-labels", file], capture_output=True, text=True)


def problems(file: Path, schema: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [tool, "--builtin-schema", schema, file]
    return subprocess.run(command, capture_output=True, text=True)


def test_hadolint_finds_nothing():
    done = hadolint(DOCKERFILE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_finds_what_is_wrong(tmp_path: Path):
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python\nCMD samsa up\n")
    done = hadolint(bad)
    assert done.returncode != 0
    assert {"DL3006", "DL3025"} <= set(re.findall(r"DL\d+", done.stdout))


def test_the_compose_file_is_as_compose_wants_it(tmp_path: Path):
    done = problems(ROOT / "compose.yaml", "vendor.compose-spec")
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((ROOT / "compose.yaml").read_text().replace("ports:", "prots:"))
    assert problems(wrong, "vendor.compose-spec").returncode == 1


def test_all_that_is_copied_exists_and_is_not_ignored():
    sources = [line.split()[0] for line in instructions("COPY") if not line.startswith("--from")]
    assert sources == ["requirements/run.txt", "layers/samsa", "websocket_api", "broker"]
    assert all((ROOT / source).exists() for source in sources)
    assert IGNORED[0] == "*"
    assert [line[1:] for line in IGNORED if line.startswith("!")] == sources


def test_every_distribution_that_it_installs_is_one_that_the_command_needs():
    (installed,) = [line for line in instructions("RUN") if "--no-deps" in line]
    assert re.findall(r"\./(\S+)", installed) == ["layers/samsa", "websocket_api", "broker"]
    assert "--no-build-isolation" in installed
    assert any("--require-hashes" in line for line in instructions("RUN"))


def test_it_runs_as_a_user_of_its_own():
    assert instructions("USER") == ["10001"]
    assert any("--uid 10001" in line for line in instructions("RUN"))


@pytest.mark.parametrize("more", [(), ("--ephemeral",)], ids=["data", "ephemeral"])
def test_its_command_starts_a_broker_that_is_healthy_until_it_is_stopped(
    more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The entry point and the health check, on another port."""
    (entry,), (check,) = instructions("ENTRYPOINT"), instructions("HEALTHCHECK")
    command = json.loads(entry)
    assert command[:2] == ["samsa", "up"]
    health = json.loads(check.partition("CMD ")[2])
    assert health[-1] == "127.0.0.1:9092"
    monkeypatch.chdir(tmp_path)
    samsa = Samsa(tmp_path / "run", *command[2:], *more, "--host", "127.0.0.1")
    healthy = [str(SAMSA), *health[1:-1], samsa.broker.bootstrap]
    assert subprocess.run(healthy).returncode == 0
    assert samsa.stop() == 0
    assert subprocess.run(healthy, stderr=subprocess.DEVNULL).returncode == 1
