"""Every API × (no ACL, allowed, prefixed, one right missing, denied, super user), by the function.

The questions are those of `support/permissions.py`, which `tests/unit/handlers/test_matrix.py` asks
the handlers and `tests/clients` asks Apache Kafka. Here they come as messages of a connection: a
way past the checks of the function, or a principal that is lost on the way, fails here.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from bundle.closed import ADMIN, GRETE, ClosedCluster
from bundle.given_gateway import Client, Cluster, row_of, serving_pushes
from support.permissions import CODES, Given, codes, set_up, told
from support.stores import places
from unit.handlers.matrix import NOTHING, Asked, authorizer_of, every_case

from samsa.security.aws_principals import principal_of_arn
from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import ParkedReply

GRETES = principal_of_arn(GRETE)
CASES = every_case(GRETES)
DOOMED = [one.given.doomed for one in CASES if one.question.key is ApiKey.DELETE_TOPICS]
REFUSALS = set(CODES.values())
NEVER_MS = 1 << 60


class Site:
    def __init__(self, cluster: ClosedCluster) -> None:
        self.admin, self.grete = cluster.admin, cluster.grete()
        self.view: Any = cluster.first._parts.broker.access
        self.ledger = cluster.first._parts.ledger
        self.loop = cluster.first._loop
        self.given = self._set_up()

    def _set_up(self) -> Given:
        steps = set_up(["doomed", *DOOMED], NOTHING)
        step = next(steps)
        try:
            while True:
                row = self.ask(self.admin, *step)
                assert not any(codes(row)), (step[0], codes(row))
                step = steps.send(row)
        except StopIteration as done:
            given: Given = done.value
            return given

    def ask(self, client: Client, key: ApiKey, version: int, row: Any) -> Any:
        """None if it is parked, as only a request is that was granted."""
        answer = client.send(key, version, row)
        if isinstance(answer, ParkedReply) and not answer.frame:
            return None
        return row_of(key, version, answer)

    def with_ids(self, given: Given) -> Given:
        doomed = self.loop.run_until_complete(self.ledger.topic(given.doomed))
        given = given._replace(topic_id=self.given.topic_id)
        return given if doomed is None else given._replace(doomed_id=doomed.id)


@pytest.fixture(scope="module")
def site(local_dynamodb: str, versity: str) -> Iterator[Site]:
    with serving_pushes() as pushes:
        yield Site(ClosedCluster(Cluster(places((local_dynamodb, versity)), pushes)))


@pytest.mark.parametrize("asked", CASES, ids=[one.name for one in CASES])
def test_every_api_asks_what_kafka_asks(asked: Asked, site: Site, monkeypatch: pytest.MonkeyPatch):
    question, given, case, _ = asked
    given = site.with_ids(given)
    monkeypatch.setattr(site.view, "_authorizer", authorizer_of(case, GRETES))
    row = site.ask(site.grete, question.key, question.version, question.row(given))
    if case.refused is None:
        assert not REFUSALS & set(codes(row)), row
        if question.hides:
            assert getattr(given, question.hides) in repr(told(row))
        return
    code = question.code(case.refused)
    if code is not None:
        assert code in codes(row), row
    else:
        assert getattr(given, question.hides) not in repr(told(row))


def test_the_matrix_is_asked_by_somebody_who_is_no_super_user(site: Site):
    assert site.view.rules.super_users == {f"User:{ADMIN}"}
    assert str(GRETES) not in site.view.rules.super_users
