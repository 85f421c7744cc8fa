"""The schema registry of real processes: two on one folder, and one that is killed."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from server.process import Samsa, a_samsa
from server.test_http import Http

SUBJECTS = 3


def schema(name: str) -> dict[str, str]:
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": [], "doc": name})}


def register(http: Http, subject: str, name: str) -> int:
    return int(http("POST", f"/subjects/{subject}/versions", schema(name))["id"])


def everything(http: Http) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for each in http("GET", "/schemas?deleted=true"):
        versions = found.setdefault(each["subject"], [])
        versions.append((each["version"], each["id"], json.loads(each["schema"])["doc"]))
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Http, Http]]:
    """Two processes on the same stores."""
    folder = tmp_path_factory.mktemp("pair")
    data = ("--http", "127.0.0.1:0", "--data", str(folder / "data"))
    with a_samsa(folder / "one", *data) as one, a_samsa(folder / "two", *data) as two:
        yield Http(one), Http(two)


def test_two_processes_give_each_id_and_version_once(pair: tuple[Http, Http]):
    with ThreadPoolExecutor(8) as pool:
        work = [
            (f"{n}", pool.submit(register, http, f"s{n % SUBJECTS}", f"{n}"))
            for n in range(30)
            for http in pair
        ]
        ids: dict[str, set[int]] = {}
        for name, done in work:
            ids.setdefault(name, set()).add(done.result(60))
    assert all(len(each) == 1 for each in ids.values())
    assert len(set().union(*ids.values())) == len(ids)
    one, other = map(everything, pair)
    assert one == other
    for versions in one.values():
        assert [version for version, _, _ in versions] == list(range(1, len(versions) + 1))


def test_what_one_process_registers_the_other_knows_at_once(pair: tuple[Http, Http]):
    one, other = pair
    for n in range(5):
        registered = register(one, "at-once", f"at once {n}")
        assert f"at once {n}" in other("GET", f"/schemas/ids/{registered}")["schema"]
        assert other("GET", "/subjects/at-once/versions/latest")["id"] == registered
        one, other = other, one


def test_a_killed_process_has_lost_nothing_that_it_answered(tmp_path: Path):
    """It is killed while clients register, wherever it is then; again and again."""
    answered: dict[str, int] = {}
    with a_samsa(tmp_path, "--http", "127.0.0.1:0") as samsa:
        for life in range(4):
            _register_until_killed(samsa, life, answered)
            samsa.again()
            http = Http(samsa)
            known = {doc: number for each in everything(http).values() for _, number, doc in each}
            assert {name: known.get(name) for name in answered} == answered
            assert len(set(known.values())) == len(known)
            for name, number in answered.items():
                assert register(http, "s", name) == number, "the same schema keeps its id"
    assert len(answered) > 20


def _register_until_killed(samsa: Samsa, life: int, answered: dict[str, int]) -> None:
    http, enough = Http(samsa), threading.Event()

    def register_many(worker: int) -> None:
        for n in range(10_000):
            name = f"{life}-{worker}-{n}"
            try:
                answered[name] = register(http, "s", name)
            except (OSError, urllib.error.URLError, ValueError):
                return
            if n == 5 + life:
                enough.set()

    with ThreadPoolExecutor(3) as pool:
        work: list[Any] = [pool.submit(register_many, worker) for worker in range(3)]
        assert enough.wait(60)
        samsa.kill()
        for each in work:
            each.result(60)


def test_a_broker_may_have_no_registry(tmp_path: Path):
    with a_samsa(tmp_path, "--http", "127.0.0.1:0", "--no-schema-registry") as samsa:
        http = Http(samsa)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            http("GET", "/subjects")
        assert http("GET", "/topics") == {"topics": []}
