"""Rows of any struct at any version, for Hypothesis."""

import uuid

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from samsa.wire.apis import APIS
from samsa.wire.schema import BOOLEAN, BYTES, FLOAT64, RECORDS, STRING, UUID, Struct
from samsa.wire.types import Fixed

BRIEF = settings(
    max_examples=12,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)

MESSAGES = [
    (message, version)
    for api in APIS.values()
    for message in (api.request, api.response)
    for version in api.versions
]


def parameters(cases):
    """Of a test. All versions of a message but the newest are for thorough runs."""
    newest = {message: version for message, version, *_ in cases}
    return [
        case if case[1] == newest[case[0]] else pytest.param(*case, marks=pytest.mark.thorough)
        for case in cases
    ]


def message_id(value):
    return getattr(value, "name", None) or f"v{value}"


# Lengths around 127 are where a varint takes its second byte.
TEXTS = st.text(max_size=6) | st.integers(120, 300).map("x".__mul__)
BLOBS = st.binary(max_size=8) | st.integers(120, 300).map(bytes)
UUIDS = st.just(uuid.UUID(int=0)) | st.uuids()


def integers(type_: Fixed) -> st.SearchStrategy[int]:
    bits = 8 * type_.size
    if type_.code.isupper():
        return st.integers(0, 2**bits - 1)
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def values(type_, version):
    if isinstance(type_, Struct):
        return rows(type_, version)
    known = {BOOLEAN: st.booleans(), UUID: UUIDS, STRING: TEXTS, BYTES: BLOBS, RECORDS: BLOBS}
    known[FLOAT64] = st.floats(allow_nan=False)
    return known[type_] if type_ in known else integers(type_)


def field_values(field, version):
    strategy = values(field.type, version)
    if field.is_array:
        strategy = st.lists(strategy, max_size=3)
    if field.tag is not None and field.default_struct is None:
        strategy = st.just(field.default) | strategy
    return st.none() | strategy if field.nullable(version) else strategy


def rows(struct, version):
    """Rows that differ from the defaults only in the fields which the version carries."""
    fields = {f.name: field_values(f, version) for f in struct.fields if f.present(version)}
    return st.fixed_dictionaries(fields).map(lambda chosen: struct(**chosen))
