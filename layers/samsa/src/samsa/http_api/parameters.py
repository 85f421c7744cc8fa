"""What routes take from a request: strict bodies, and path parameters described once."""

from typing import Annotated, Any, TypeAlias

from fastapi import Path
from pydantic import BaseModel, ConfigDict

from samsa.topics.catalog import MAX_PARTITIONS
from samsa.topics.configs import MAX_NAME

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
LEGAL_NAME = "^[a-zA-Z0-9._-]+$"
"""For the API's description; the handlers check it."""

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


class StrictBody(BaseModel):
    """A body, or a part of one: it holds what is described, as what it is described."""

    model_config = ConfigDict(extra="forbid", strict=True)


def examples(*given: dict[str, Any]) -> ConfigDict:
    """For a body's `model_config`."""
    return ConfigDict(json_schema_extra={"examples": list(given)})
