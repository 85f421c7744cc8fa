"""`samsa up --secure` by HTTP and for metrics: TLS, logins, and hostile clients, as a process."""

import asyncio
import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from server.process import Samsa, a_samsa, parse
from support.waiting import eventually

ELSEWHERE = ("127.0.0.2", 0)
OPTIONS = ("--secure", "--http", "https://127.0.0.1:0", "--metrics", "https://127.0.0.1:0")


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("secure"), *OPTIONS) as running:
        yield running


def context(samsa: Samsa) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(samsa.data / "security" / "ca.pem"))


def url(samsa: Samsa, name: str) -> str:
    """As the start message says it."""
    lines = (samsa.folder / "stdout").read_text().splitlines()
    found = next(line for line in lines if line.strip().startswith(name))
    address = found.split()[1]
    assert address.startswith("https://127.0.0.1:")
    return address.removesuffix("/docs")


def basic(samsa: Samsa, password: str | None = None) -> dict[str, str]:
    secret = password or (samsa.data / "security" / "admin.password").read_text()
    return {"authorization": "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode()}


def ask(
    samsa: Samsa, path: str, headers: dict[str, str], body: Any = None, name: str = "http"
) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    where = url(samsa, name) + path if name == "http" else url(samsa, name)
    headers = {"content-type": "application/json", **headers}
    request = urllib.request.Request(where, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=60, context=context(samsa)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_an_administrator_makes_a_topic_and_nobody_else_does(secure: Samsa):
    assert ask(secure, "/topics", {}, {"name": "orders"})[0] == 401
    assert ask(secure, "/topics", basic(secure, "wrong"), {"name": "orders"})[0] == 401
    status, said = ask(secure, "/topics", basic(secure), {"name": "orders"})
    assert status == 201, said
    listed = json.loads(ask(secure, "/topics", basic(secure))[1])["topics"]
    assert [each["name"] for each in listed] == ["orders"]
    change = next(line for line in secure.logged() if "resource=orders" in line)
    assert "principal=User:admin" in change
    assert "action=CreateTopics" in change


def test_metrics_are_for_those_who_log_in(secure: Samsa):
    assert ask(secure, "", {}, name="metrics")[0] == 401
    assert ask(secure, "", basic(secure, "wrong"), name="metrics")[0] == 401
    status, text = ask(secure, "", basic(secure), name="metrics")
    assert status == 200
    assert parse(text)["samsa_logins_refused_total"] >= 1


def test_no_credential_is_printed_or_logged(secure: Samsa):
    ask(secure, "/topics", basic(secure))
    ask(secure, "/topics", basic(secure, "hunter2"))
    token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9."
    assert ask(secure, "/topics", {"authorization": f"Bearer {token}"})[0] == 401
    assert eventually(lambda: any("Bearer is not offered" in line for line in secure.logged()))
    said = "\n".join([*secure.logged(), (secure.folder / "stdout").read_text()])
    password = (secure.data / "security" / "admin.password").read_text()
    encoded = basic(secure)["authorization"].split()[1]
    for secret in ("hunter2", "aHVudGVyMg", password, encoded, token):
        assert secret not in said


def test_guesses_and_slow_handshakes_hold_up_no_client(secure: Samsa):
    """From another address, as fast as they can: guesses of passwords, and clients that begin TLS
    and say nothing. Beside them an administrator is served."""
    host, port = url(secure, "http").removeprefix("https://").split(":")
    tls = context(secure)
    assert ask(secure, "/topics", basic(secure))[0] == 200
    counts = {"guesses": 0, "silent": 0}
    over = False

    async def guess() -> None:
        while not over:
            counts["guesses"] += 1
            wrong = basic(secure, f"guess {counts['guesses']}")["authorization"]
            try:
                reader, writer = await asyncio.open_connection(
                    host, port, ssl=tls, local_addr=ELSEWHERE
                )
                writer.write(
                    b"GET /topics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    b"Authorization: " + wrong.encode() + b"\r\n\r\n"
                )
                head = await asyncio.wait_for(reader.readline(), 60)
                assert head.split()[1:2] in ([b"401"], [b"503"], []), head
                writer.close()
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.01)

    async def silent() -> None:
        while not over:
            counts["silent"] += 1
            try:
                reader, writer = await asyncio.open_connection(host, port, local_addr=ELSEWHERE)
                writer.write(b"\x16\x03\x01\x02\x00\x01")
                await asyncio.wait_for(reader.read(), 60)
                writer.close()
            except OSError:
                await asyncio.sleep(0.01)

    async def attack() -> list[float]:
        nonlocal over
        attackers = [asyncio.create_task(guess()) for _ in range(30)]
        attackers += [asyncio.create_task(silent()) for _ in range(200)]
        times: list[float] = []
        try:
            while len(times) < 20 or counts["guesses"] < 200:
                begun = time.monotonic()
                status, said = await asyncio.to_thread(ask, secure, "/topics", basic(secure))
                assert status == 200, said
                times.append(time.monotonic() - begun)
        finally:
            over = True
            for each in attackers:
                each.cancel()
            results = await asyncio.gather(*attackers, return_exceptions=True)
        failures = [each for each in results if isinstance(each, Exception)]
        assert not failures, failures
        return times

    times = asyncio.run(attack())
    assert max(times) < 20, times
    assert counts["silent"] > 200
    text = ask(secure, "", basic(secure), name="metrics")[1]
    assert parse(text)["samsa_logins_refused_total"] > 0
