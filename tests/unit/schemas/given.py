"""Schemas, and whether one can follow another."""

import json
from typing import Any

from samsa.schemas.budget import Budget
from samsa.schemas.compatibility import Level, problems
from samsa.schemas.contents import NamedText, SchemaKind
from samsa.schemas.parsing import Schema, parse


def avro(schema: Any, *references: NamedText) -> Schema:
    return parse(SchemaKind.AVRO, json.dumps(schema), references)


def json_schema(schema: Any, *references: NamedText) -> Schema:
    return parse(SchemaKind.JSON, json.dumps(schema), references)


def proto(text: str, *references: NamedText) -> Schema:
    return parse(SchemaKind.PROTOBUF, text, references)


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def found(new: Schema, old: Schema, level: Level = Level.BACKWARD) -> list[str]:
    """The names of the problems."""
    told = problems(level, new, old, Budget())
    return [each.partition("errorType:'")[2].partition("'")[0] for each in told]
