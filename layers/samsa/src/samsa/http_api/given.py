"""What routes take from a request's path and query, described once."""

from typing import Annotated, Any, TypeAlias

from fastapi import Path

from samsa.handlers.catalog import MAX_PARTITIONS
from samsa.handlers.configs import MAX_NAME

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
LEGAL_NAME = "^[a-zA-Z0-9._-]+$"
"""Told to clients; the handlers are who checks it."""

NAME_SCHEMA: dict[str, Any] = {"pattern": LEGAL_NAME, "maxLength": MAX_NAME, "minLength": 1}
TopicName: TypeAlias = Annotated[
    str, Path(description="A topic", examples=["orders"], json_schema_extra=NAME_SCHEMA)
]
PartitionNumber: TypeAlias = Annotated[
    int, Path(ge=0, lt=MAX_PARTITIONS, description="A partition of it", examples=[0])
]
Offset: TypeAlias = Annotated[
    int, Path(ge=0, le=INT64_MAX, description="A record's offset", examples=[0])
]
GroupId: TypeAlias = Annotated[
    str, Path(min_length=1, description="A consumer group", examples=["billing"])
]
