"""The console of a real `samsa up`, and `samsa console` with a login and without a broker."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from server.process import Samsa, a_samsa
from server.test_security_cli import settings
from support.broker import samsa_up
from support.console import URL, Http, a_console
from support.waiting import eventually

from samsa_broker.cli.main import main

API = "/console/api"


def http_of(samsa: Samsa) -> Http:
    found = URL.search((samsa.folder / "stdout").read_text())
    assert found, samsa.said()
    return Http(found[0])


@pytest.fixture(scope="module")
def samsa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    with a_samsa(tmp_path_factory.mktemp("console"), "--http", "127.0.0.1:0") as running:
        yield running


def test_the_start_message_says_where_the_console_is(samsa: Samsa):
    assert f"{http_of(samsa).url}/console/" in (samsa.folder / "stdout").read_text()


def test_what_clients_do_is_seen(samsa: Samsa):
    http = http_of(samsa)
    http.get(f"{API}/overview")
    producer = Producer({"bootstrap.servers": samsa.broker.bootstrap})
    for n in range(100):
        producer.produce("seen", f"value {n}")
    assert producer.flush(30) == 0
    assert http.get(f"{API}/overview")["connections"] > 0

    def has_rates() -> bool:
        rates = http.get(f"{API}/overview")["rates"]
        return all(rates[name] for name in ("bytes_in", "records_in", "requests"))

    assert eventually(has_rates)
    found = http.get(f"{API}/topics/seen/records", **{"from": "end", "limit": 1})
    assert found["records"][0]["value"] == {"text": "value 99"}
    (row,) = http.get(f"{API}/topics", search="seen")["topics"]
    assert (row["records"], row["bytes"] > 500) == (100, True)


def test_a_client_that_gives_up_a_tail_leaves_nothing_behind(samsa: Samsa):
    http = http_of(samsa)
    http.send("POST", "/topics", {"name": "tailed"})
    for _ in range(25):  # more than may run at a time
        with http.open(f"{API}/topics/tailed/tail") as tail:
            assert b"ping" in tail.readline()

        def may_begin() -> bool:
            try:
                http.open(f"{API}/topics/tailed/tail").close()
            except urllib.error.HTTPError:
                return False
            return True

        assert eventually(may_begin)


def test_a_broker_with_an_open_tail_stops_at_once(tmp_path: Path):
    with a_samsa(tmp_path, "--http", "127.0.0.1:0") as running:
        http = http_of(running)
        http.send("POST", "/topics", {"name": "tailed"})
        with http.open(f"{API}/topics/tailed/tail") as tail:
            assert b"ping" in tail.readline()
            assert running.stop() == 0
            assert tail.read() is not None
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_nothing_of_it_is_imported_before_the_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    with a_samsa(tmp_path, "--http", "127.0.0.1:0") as running:

        def imported() -> set[str]:
            lines = (tmp_path / "stderr").read_text().splitlines()
            return {line.rpartition("|")[2].strip() for line in lines if "import time:" in line}

        with running.peer() as peer:
            assert peer
        before = imported()
        assert "samsa_broker.console.extension" in before
        late = {
            "fastapi", "uvicorn", "samsa_broker.console.sampler", "samsa_broker.cost", "re2",
        }  # fmt: skip
        assert not late & before
        http_of(running).get(f"{API}/overview")
        assert eventually(lambda: late - {"re2"} <= imported())


def test_a_login_is_asked_for_the_page_too(tmp_path: Path):
    options = ("--secure", "--http", "https://127.0.0.1:0")
    with samsa_up(tmp_path, *options):
        found = (tmp_path / "stdout").read_text()
        url = next(word for word in found.split() if word.startswith("https://"))
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, context=_trusting(tmp_path), timeout=30)
        assert refused.value.code == 401
        assert "Basic" in refused.value.headers["www-authenticate"]


def _trusting(folder: Path):
    import ssl

    return ssl.create_default_context(cafile=str(folder / "data/security/ca.pem"))


def test_a_console_logs_in_and_has_the_rights_of_its_login(
    tmp_path: Path, console: Callable[..., str]
):
    with samsa_up(tmp_path, "--secure") as broker:
        password = (tmp_path / "data/security/admin.password").read_text().strip()
        config = settings(tmp_path, "admin", password)
        url, options = f"kafka://{broker.bootstrap}", ("--command-config", str(config))
        with a_console(tmp_path / "console", url, *options) as http:
            http.send("POST", "/topics", {"name": "orders"})
            found = http.get(f"{API}/security")
            assert (found["enabled"], found["acls"]) == (True, [])
            assert [user["name"] for user in found["users"]] == ["admin"]
            assert http.get(f"{API}/topics")["total"] == 1
        refused = console(f"--url={url}", *options, "--listen=0.0.0.0:0")
        assert "would have the rights of this login" in refused
        assert "--command-config" in console(f"--url={url}")


@pytest.fixture
def console(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What it says when it does not start."""

    def say(*options: str) -> str:
        capsys.readouterr()
        assert main(["console", *options]) == 1
        return capsys.readouterr().err

    return say


def test_a_console_without_a_broker_says_so(console: Callable[..., str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "no broker answers" in console(f"--url=kafka://127.0.0.1:{port}")
    assert "is not HOST:PORT" in console("--url=kafka://nowhere")
    assert "neither" in console("--url=ftp://127.0.0.1:1")
    assert "does not answer" in console(f"--url=http://127.0.0.1:{port}")


def test_a_console_says_where_that_of_a_broker_is(samsa: Samsa, capsys: pytest.CaptureFixture[str]):
    url = http_of(samsa).url
    assert main(["console", "--url", url]) == 0
    assert f"open {url}/console/" in capsys.readouterr().out


def test_a_console_outlives_its_broker_and_goes_on_when_it_is_back(tmp_path: Path):
    with a_samsa(tmp_path / "broker") as running:
        url = f"kafka://{running.broker.bootstrap}"
        with a_console(tmp_path / "console", url) as http:
            http.send("POST", "/topics", {"name": "orders"})
            with http.open(f"{API}/topics/orders/tail") as tail:
                assert b"ping" in tail.readline()
                running.kill()
                told = [json.loads(line) for line in tail]
                assert "problem" in told[-1]
            status, problem = http.refused(f"{API}/topics")
            assert (status, problem["status"]) == (503, 503)
            running.again()

            def is_back() -> bool:
                try:
                    return http.get(f"{API}/topics")["total"] == 1
                except urllib.error.HTTPError:
                    return False

            assert eventually(is_back)
