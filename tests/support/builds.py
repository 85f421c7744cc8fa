"""Builds of the client drivers, made once per state of their sources and kept in a cache folder.

Several test processes may ask at once: the first one builds, the others wait for it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

Command = Sequence[str]


def built(sources: Path, commands: Sequence[Command]) -> Path:
    """A folder that holds a copy of the sources in which every command has succeeded."""
    target = cache() / f"{sources.name}-{fingerprint(sources, commands)}"
    with locked(target.with_suffix(".lock")):
        if not target.exists():
            build(sources, commands, target)
    return target


def environment_with(package: str) -> Path:
    """The commands of a Python that has this package and nothing else; made once and kept."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = cache() / f"{package.replace('==', '-')}-py{version}"
    done = home / "done"
    with locked(home.with_suffix(".lock")):
        if not done.exists():
            run([sys.executable, "-m", "venv", "--clear", str(home)], cache())
            run([str(home / "bin" / "python"), "-m", "pip", "install", "-q", package], cache())
            done.touch()
    return home / "bin"


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "samsa-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fingerprint(sources: Path, commands: Sequence[Command]) -> str:
    digest = hashlib.sha256(repr(commands).encode())
    for file in sorted(file for file in sources.rglob("*") if file.is_file()):
        digest.update(f"{file.relative_to(sources)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def build(sources: Path, commands: Sequence[Command], target: Path) -> None:
    workshop = target.with_suffix(".partial")
    shutil.rmtree(workshop, ignore_errors=True)
    shutil.copytree(sources, workshop)
    for command in commands:
        run(command, workshop)
    # The rename is what publishes it: a build cut short leaves nothing that looks finished.
    workshop.rename(target)


def run(command: Command, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}"[-4000:]
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
