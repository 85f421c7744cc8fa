"""Between our rows and kio's entities, which wrap times, errors and missing UUIDs."""

import datetime
import io
from dataclasses import fields
from typing import get_args

from hypothesis import strategies as st
from kio.index import UnknownEntity, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from property.wire.strategies import field_values

from samsa.wire.schema import Struct

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MILLISECOND = datetime.timedelta(milliseconds=1)
NARROWED = {
    "error_code": st.sampled_from([int(code) for code in ErrorCode]),
    # kio keeps times as floats, exact to the millisecond until 2039, and -1 for no time at all.
    "datetime_i64": st.just(-1) | st.integers(0, 2**41),
    "timedelta_i64": st.integers(-1, 2**41),
}


def kio_type(api, message, version):
    """kio's class for the message, or None where kio no longer knows the version."""
    loader = load_request_schema if message is api.request else load_response_schema
    try:
        return loader(api.key, version)
    except UnknownEntity:
        return None


def pairs(struct, kio_class, version):
    """Our present fields beside kio's, in kio's order; kio drops `_ms` where it wraps a time."""
    ours = {field.name: field for field in struct.fields if field.present(version)}
    theirs = [(ours.get(f.name) or ours[f.name + "_ms"], f) for f in fields(kio_class)]
    assert len(theirs) == len(ours)
    return theirs


def nested_class(kio_field):
    """The entity class of `X`, `X | None` or `tuple[X, ...]`."""
    candidates = [kio_field.type, *get_args(kio_field.type)]
    candidates += [inner for candidate in candidates for inner in get_args(candidate)]
    return next(c for c in candidates if hasattr(c, "__version__"))


def kio_rows(struct, kio_class, version):
    """Rows that kio, too, can hold."""
    chosen = {}
    for field, kio_field in pairs(struct, kio_class, version):
        chosen[field.name] = kio_values(field, kio_field, version)
    return st.fixed_dictionaries(chosen).map(lambda values: struct(**values))


def kio_values(field, kio_field, version):
    kafka_type = kio_field.metadata.get("kafka_type")
    if kafka_type == "datetime_i64" and type(None) not in get_args(kio_field.type):
        return st.integers(0, 2**41)
    if kafka_type in NARROWED:
        return NARROWED[kafka_type]
    if not isinstance(field.type, Struct):
        return field_values(field, version)
    strategy = kio_rows(field.type, nested_class(kio_field), version)
    if field.is_array:
        strategy = st.lists(strategy, max_size=3)
    return st.none() | strategy if field.nullable(version) else strategy


def to_kio(row, struct, kio_class, version):
    values = {}
    for field, kio_field in pairs(struct, kio_class, version):
        values[kio_field.name] = kio_value(getattr(row, field.name), field, kio_field, version)
    return kio_class(**values)


def kio_value(value, field, kio_field, version):
    if isinstance(field.type, Struct):
        if value is None:
            return None
        inner = nested_class(kio_field)
        if field.is_array:
            return tuple(to_kio(item, field.type, inner, version) for item in value)
        return to_kio(value, field.type, inner, version)
    if field.is_array:
        return value if value is None else tuple(value)
    return wrapped(value, kio_field.metadata["kafka_type"])


def wrapped(value, kafka_type):
    if kafka_type == "error_code":
        return ErrorCode(value)
    if kafka_type in ("timedelta_i32", "timedelta_i64"):
        return value * MILLISECOND
    if kafka_type == "datetime_i64":
        return None if value == -1 else EPOCH + value * MILLISECOND
    if kafka_type == "uuid":
        return value if value.int else None
    return value


def kio_encode(entity):
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def kio_decode(kio_class, body):
    entity, size = entity_reader(kio_class)(body, 0)
    assert size == len(body)
    return entity
