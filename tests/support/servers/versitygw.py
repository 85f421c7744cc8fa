"""versitygw: a real S3 server over a folder, built by Go."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import needs
from support.servers.processes import running


@contextmanager
def versitygw(folder: Path, access_key: str, secret_key: str) -> Iterator[str]:
    """Its endpoint. Buckets are sub-folders."""
    data = folder / "buckets"
    data.mkdir()
    port = free_port()
    options = ["--quiet", "--port", f"127.0.0.1:{port}"]
    options += ["--access", access_key, "--secret", secret_key]
    command = [str(needs.versitygw()), *options, "posix", str(data)]

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
