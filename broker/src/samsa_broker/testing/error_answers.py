"""The answer to any request in which everything that it asked for has failed.

It is made from the tables of the messages. An array of the request whose elements are answered one
by one, such as topics and their partitions, has an element with the error for each of them in the
answer. Only an answer without such elements has the error at its top, as most of Kafka's have.
"""

from typing import Any

from samsa.wire.apis import Api
from samsa.wire.schema import INT32, STRING, Array, Field, Struct
from samsa.wire.types import Primitive

NUMBER = ("partition_index", "partition", "index", "partition_id")
NAME = ("name", "topic", "topic_name")
SAME = (NUMBER, NAME)
"""Fields that mean the same and have several names."""
NOT_KNOWN = ("base_offset", "high_watermark", "offset", "timestamp", "end_offset", "log_start")
"""Fields that are -1 beside an error."""


class NoPlace(Exception):
    """The answer has no place for an error."""


def error_answer(api: Api, version: int, asked: Any, code: int) -> Any:
    """A row of the API's response. Raises NoPlace."""
    row, has_error = _failed(api.response, api.request, asked, version, code)
    if not has_error:
        raise NoPlace(f"{api.name} v{version}")
    return row


def _failed(
    struct: Struct, source: Struct | Primitive, asked: Any, version: int, code: int
) -> tuple[Any, bool]:
    """The row, and whether the error is in it."""
    row, has_error = struct(), False
    for field in struct.fields:
        if not field.present(version) or field.tag is not None:
            continue
        if field.is_array:
            rows = _elements(field, source, asked, version, code)
            if rows:
                setattr(row, field.name, rows)
                has_error = True
        elif not field.name.endswith("error_code"):
            _copy(row, field, source, asked, version)
    return row, has_error or _set_error(row, struct, version, code)


def _set_error(row: Any, struct: Struct, version: int, code: int) -> bool:
    fields = [each for each in _errors(struct) if each.present(version)]
    for field in fields:
        setattr(row, field.name, code)
    return bool(fields)


def _errors(struct: Struct) -> list[Field]:
    return [each for each in struct.fields if each.name.endswith("error_code")]


def _elements(
    field: Field, source: Struct | Primitive, asked: Any, version: int, code: int
) -> list[Any]:
    """An element with the error for each that was asked for; none, if they have no errors."""
    if not isinstance(field.type, Struct) or not _may_fail(field.type, version):
        return []
    array = _first_array(source, version)
    if array is None:
        return []
    wanted = getattr(asked, array.name) or ()
    made = [_failed(field.type, array.type, each, version, code) for each in wanted]
    return [row for row, has_error in made if has_error]


def _may_fail(struct: Struct, version: int) -> bool:
    inner = (each.type for each in struct.fields if each.is_array and each.present(version))
    return any(each.present(version) for each in _errors(struct)) or any(
        isinstance(each, Struct) and _may_fail(each, version) for each in inner
    )


def _first_array(source: Struct | Primitive, version: int) -> Array | None:
    if not isinstance(source, Struct):
        return None
    arrays = (each for each in source.fields if isinstance(each, Array))
    return next((each for each in arrays if each.present(version)), None)


def _copy(row: Any, field: Field, source: Struct | Primitive, asked: Any, version: int) -> None:
    """What names the element: a topic's name, the number of a partition, a member's id."""
    if field.name in NOT_KNOWN:
        setattr(row, field.name, -1)
    elif isinstance(source, Struct):
        for name in _names(field.name):
            if name in source.row.field_names and _type_of(source, name) is field.type:
                value = getattr(asked, name)
                if value is not None or field.nullable(version):
                    setattr(row, field.name, value)
    elif field.type is source and (field.type in (STRING, INT32)) and _is_first(row, field):
        setattr(row, field.name, asked)


def _names(name: str) -> tuple[str, ...]:
    return next((names for names in SAME if name in names), (name,))


def _type_of(source: Struct, name: str) -> Any:
    return next(each.type for each in source.fields if each.name == name)


def _is_first(row: Any, field: Field) -> bool:
    """Whether no earlier field of the same kind can hold the element's name."""
    names: tuple[str, ...] = row.field_names
    before = names[: names.index(field.name)]
    return not any(getattr(row, name) for name in before)
