"""The APIs that Samsa speaks, and in which versions.

An API's message tables are imported when they are first used: a cold start pays for one or two.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from samsa.wire.schema import Message


class ApiKey(IntEnum):
    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    DESCRIBE_CLUSTER = 60


class Api:
    """One API: its key, Kafka's name for it, our versions and its two messages."""

    def __init__(self, key: ApiKey, *, newest: int) -> None:
        self.key = key
        self.name = key.name.title().replace("_", "")
        self.versions = range(newest + 1)

    @cached_property
    def _tables(self) -> ModuleType:
        return import_module(f"samsa.wire.messages.{self.key.name.lower()}")

    @cached_property
    def request(self) -> Message:
        message: Message = self._tables.REQUEST
        return message

    @cached_property
    def response(self) -> Message:
        message: Message = self._tables.RESPONSE
        return message

    def __repr__(self) -> str:
        return f"<{self.name} v{self.versions.start}-{self.versions.stop - 1}>"


APIS: dict[int, Api] = {
    api.key: api
    for api in (
        Api(ApiKey.PRODUCE, newest=13),
        Api(ApiKey.FETCH, newest=18),
        Api(ApiKey.LIST_OFFSETS, newest=11),
        Api(ApiKey.METADATA, newest=13),
        Api(ApiKey.API_VERSIONS, newest=4),
        Api(ApiKey.CREATE_TOPICS, newest=7),
        Api(ApiKey.DELETE_TOPICS, newest=6),
        Api(ApiKey.INIT_PRODUCER_ID, newest=6),
        Api(ApiKey.OFFSET_FOR_LEADER_EPOCH, newest=4),
        Api(ApiKey.DESCRIBE_CLUSTER, newest=2),
    )
}
