"""A `samsa console` for a test, and any console asked by HTTP."""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from support.broker import SAMSA, START_SECONDS, stop

URL = re.compile(r"http://127\.0\.0\.1:\d+")
SECONDS = 60


class Http:
    def __init__(self, url: str) -> None:
        self.url = url

    def open(self, path: str, **query: Any) -> HTTPResponse:
        asked = f"?{urlencode(query)}" if query else ""
        answer = urllib.request.urlopen(f"{self.url}{path}{asked}", timeout=SECONDS)
        assert isinstance(answer, HTTPResponse)
        return answer

    def get(self, path: str, **query: Any) -> Any:
        with self.open(path, **query) as answer:
            return json.loads(answer.read())

    def send(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps({} if body is None else body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def refused(self, path: str, **query: Any) -> tuple[int, Any]:
        """The status, and the problem."""
        try:
            self.get(path, **query)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())
        raise AssertionError(f"{path} was not refused")

    def lines(self, path: str, **query: Any) -> list[Any]:
        with self.open(path, **query) as answer:
            return [json.loads(line) for line in answer]


def part(name: str) -> str:
    return quote(name, safe="")


@contextmanager
def a_console(folder: Path, url: str, *options: str) -> Iterator[Http]:
    folder.mkdir(parents=True, exist_ok=True)
    out, err = folder / "stdout", folder / "stderr"
    command = [str(SAMSA), "console", "--url", url, "--listen", "127.0.0.1:0", *options]
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    try:
        yield Http(_url(process, folder))
    finally:
        status = stop(process)
    assert status == 0, f"samsa console ended with {status} on SIGTERM:\n{err.read_text()}"


def _url(process: subprocess.Popen[bytes], folder: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := URL.search((folder / "stdout").read_text()):
            return found[0]
        time.sleep(0.02)
    raise RuntimeError(f"samsa console did not start:\n{(folder / 'stderr').read_text()}")
