"""The schema registry of functions behind the local API Gateway, and of a process beside them."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from server.process import a_samsa
from server.test_http import Http
from support.broker import SAMSA
from support.servers.processes import running

SECONDS = 60


class Functions:
    def __init__(self, url: str) -> None:
        self.url = url.replace("ws://", "http://").rpartition("/")[0]

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/vnd.schemaregistry.v1+json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError((method, path, error.code, error.read())) from None


@pytest.fixture
def functions(environment: dict[str, str], tmp_path: Path) -> Iterator[Functions]:
    log = tmp_path / "local-api.log"
    command = [str(SAMSA), "local-api", "--port", "0", "--log-level", "warning"]
    command += ["--ledger", environment["SAMSA_LEDGER"], "--objects", environment["SAMSA_OBJECTS"]]

    def listening() -> str | None:
        found = re.search(r"listening on (\S+)", log.read_text())
        return found[1] if found else None

    with running(command, log, listening) as url:
        yield Functions(url)


def test_functions_and_a_process_share_one_registry(
    functions: Functions, environment: dict[str, str], tmp_path: Path
):
    stores = ("--ledger", environment["SAMSA_LEDGER"], "--objects", environment["SAMSA_OBJECTS"])
    with a_samsa(tmp_path / "process", "--http", "127.0.0.1:0", *stores) as samsa:
        process = Http(samsa)

        def register(ask: Any, number: int) -> int:
            schema = json.dumps({"type": "fixed", "name": "F", "size": number})
            body = {"schema": schema}
            return int(ask("POST", f"/subjects/{quote('a/b', safe='')}/versions", body)["id"])

        for ask in (functions, process):
            ask("PUT", "/config", {"compatibility": "NONE"})
        with ThreadPoolExecutor(6) as pool:
            work = {
                (number, ask): pool.submit(register, ask, number)
                for number in range(8)
                for ask in (functions, process)
            }
            ids = {key: done.result(SECONDS) for key, done in work.items()}
        for number in range(8):
            assert ids[number, functions] == ids[number, process]
        assert len(set(ids.values())) == 8
        for ask in (functions, process):
            assert ask("GET", "/subjects") == ["a/b"]
            assert ask("GET", "/subjects/a%2Fb/versions") == list(range(1, 9))
        for kind, schema in (
            ("JSON", '{"type":"object"}'),
            ("PROTOBUF", 'syntax = "proto3"; message M { }'),
        ):
            body = {"schema": schema, "schemaType": kind}
            number = functions("POST", f"/subjects/{kind}/versions", body)["id"]
            assert process("GET", f"/schemas/ids/{number}")["schema"] == schema
        assert functions("DELETE", "/subjects/JSON") == [1]
        assert process("GET", "/subjects") == ["PROTOBUF", "a/b"]
