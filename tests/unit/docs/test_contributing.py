"""The API that CONTRIBUTING.md adds as an example: its table and its handler work."""

from types import SimpleNamespace
from typing import Any

import pytest
from unit.docs.pages import ROOT, code

from samsa.broker.work import Work, WorkLimits
from samsa.wire import messages, schema

TABLE, HANDLER = code(ROOT / "CONTRIBUTING.md", "python")
VERSION_WITH_DETAILS = 1


def test_the_table_of_the_example_is_written_and_read():
    names: dict[str, Any] = dict(vars(schema))
    exec(TABLE, names)
    request = names["REQUEST"]
    row = request(names=["one", "two"], include_details=True)
    for version in (0, VERSION_WITH_DETAILS):
        data = b"".join(request.encode(version, row))
        read = request.decode(version, memoryview(data))
        assert read.names == ["one", "two"]
        assert read.include_details == (version >= VERSION_WITH_DETAILS)


async def test_the_handler_of_the_example_answers_and_is_registered(
    monkeypatch: pytest.MonkeyPatch,
):
    registered = {}
    rows = SimpleNamespace(RESPONSE=SimpleNamespace, THING=SimpleNamespace)
    monkeypatch.setattr(messages, "describe_things", rows, raising=False)

    def handles(key: str) -> Any:
        return lambda handler: registered.setdefault(key, handler)

    names: dict[str, Any] = {
        "handles": handles,
        "ApiKey": SimpleNamespace(DESCRIBE_THINGS="describe things"),
    }
    exec(HANDLER, names)
    broker = SimpleNamespace(work=Work(WorkLimits()))
    answer = await registered["describe things"](
        SimpleNamespace(names=["one", "two"]), None, broker
    )
    assert [thing.name for thing in answer.things] == ["one", "two"]
