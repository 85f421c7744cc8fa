"""Every API × (no ACL, allowed, prefixed, one right missing, denied, super user).

The questions and what they need are in `support/permissions.py`. They are answered by the handlers,
on stores in memory, with the access that a logged-in client has. A handler that checks nothing
grants what it should refuse, and fails here; so does an API that is not in the table.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.permissions import CODES, FREE, QUESTIONS, codes, table, told
from unit.handlers.matrix import CASES, DOOMED, Asked, Site, access_of, with_ids

from samsa.wire.apis import APIS

REFUSALS = set(CODES.values())
PAGE = Path(__file__).parents[3] / "docs" / "security.md"


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, loop: asyncio.Runner) -> Iterator[Site]:
    found = Site(tmp_path_factory.mktemp("site"), loop)
    yield found
    found.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, loop: asyncio.Runner) -> Iterator[Site]:
    """Nothing exists there."""
    found = Site(tmp_path_factory.mktemp("empty"), loop)
    yield found
    found.close()


@pytest.fixture(scope="module")
def topic_id(site: Site) -> Any:
    return site.set_up(["doomed", *DOOMED]).topic_id


@pytest.mark.parametrize("asked", CASES, ids=[one.name for one in CASES])
def test_every_api_asks_what_kafka_asks(asked: Asked, site: Site, topic_id: Any):
    question, given, case, _ = asked
    given = with_ids(given, topic_id, site)
    row = site.ask(question.key, question.version, question.row(given), access_of(case))
    if case.refused is None:
        assert not REFUSALS & set(codes(row)), row
        if question.hides:
            assert getattr(given, question.hides) in names(row)
        return
    code = question.code(case.refused)
    if code is not None:
        assert code in codes(row), row
    else:
        assert getattr(given, question.hides) not in names(row)


def names(row: Any) -> str:
    return repr(told(row))


HIDDEN = [
    one
    for one in CASES
    if one.case.refused == 0 and one.question.code(0) is not None and one.question.names_nothing
]


@pytest.mark.parametrize("asked", HIDDEN, ids=[one.name for one in HIDDEN])
def test_a_refusal_does_not_tell_what_exists(asked: Asked, site: Site, empty: Site, topic_id: Any):
    question, given, case, _ = asked
    given = given._replace(topic_id=topic_id)
    here, there = (
        each.ask(question.key, question.version, question.row(given), access_of(case))
        for each in (site, empty)
    )
    assert here == there


def test_the_page_says_what_every_api_needs():
    told = PAGE.read_text().partition("<!-- rights -->")[2].partition("<!-- /rights -->")[0]
    assert told.split("\n")[1:-1] == table(), "\n".join(table())


def test_every_api_is_in_the_table():
    asked = {question.key for question in QUESTIONS} | FREE
    assert asked == set(APIS)
