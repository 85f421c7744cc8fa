"""versitygw: a real S3 server over a folder, built by Go."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.builds import cache, locked
from support.servers.processes import running
from support.tools import absent, require

VERSION = "v1.8.0"


@contextmanager
def versitygw(folder: Path, access_key: str, secret_key: str) -> Iterator[str]:
    """Its endpoint. Buckets are sub-folders."""
    data = folder / "buckets"
    data.mkdir()
    port = free_port()
    options = ["--quiet", "--port", f"127.0.0.1:{port}"]
    options += ["--access", access_key, "--secret", secret_key]
    command = [str(binary()), *options, "posix", str(data)]

    def endpoint() -> str | None:
        with socket.socket() as client:
            refused = client.connect_ex(("127.0.0.1", port))
        return None if refused else f"http://127.0.0.1:{port}"

    with running(command, folder / "versitygw.log", endpoint) as url:
        yield url


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def binary() -> Path:
    folder = cache() / f"versitygw-{VERSION}"
    with locked(cache() / "versitygw.lock"):
        if not (folder / "versitygw").exists():
            require("go", "versitygw, a real S3 server, is built with it")
            build(folder)
    return folder / "versitygw"


def build(folder: Path) -> None:
    package = f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"
    done = subprocess.run(
        ["go", "install", package],
        env={**os.environ, "GOBIN": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        absent("versitygw", f"Go could not build it: {done.stderr[-500:]}")
