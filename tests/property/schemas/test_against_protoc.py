"""Our reading of .proto texts beside protoc's: Google's common APIs have text and descriptor."""

import base64
from importlib import import_module
from pathlib import Path

import google.api
import pytest
from google.protobuf import descriptor_pb2 as pb
from hypothesis import given, settings
from hypothesis import strategies as st

from samsa.schemas.contents import NamedText, SchemaKind
from samsa.schemas.errors import BadSchema
from samsa.schemas.parsing import parse

ROOT = Path(next(iter(google.api.__path__))).parents[1]
FILES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("api", "rpc", "type", "logging", "longrunning")
    for path in (ROOT / "google" / folder).rglob("*.proto")
)


def compiled(name: str) -> pb.FileDescriptorProto:
    module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    return pb.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)


def imported(name: str, found: dict[str, NamedText]) -> list[NamedText]:
    """What a file imports, each after what it imports itself."""
    for each in compiled(name).dependency:
        if not each.startswith("google/protobuf/") and each not in found:
            imported(each, found)
            found[each] = NamedText(each, (ROOT / each).read_text("utf-8"))
    return list(found.values())


def test_there_are_files_to_compare():
    assert len(FILES) > 40


@pytest.mark.parametrize("name", FILES)
def test_a_text_means_what_protoc_says(name: str):
    references = imported(name, {})
    text = (ROOT / name).read_text("utf-8")
    ours = parse(SchemaKind.PROTOBUF, text, references)
    descriptor = base64.b64encode(compiled(name).SerializeToString()).decode()
    theirs = parse(SchemaKind.PROTOBUF, descriptor, references)
    assert ours.normalized == theirs.normalized
    assert parse(SchemaKind.PROTOBUF, ours.normalized, references).normalized == ours.normalized


TEXT = """
message enum oneof map < > { } ( ) [ ] = ; , . M a b 1 2 -1 0x7 1.5 "x" 'y' int32 string option
optional repeated required reserved extensions to max extend service rpc returns stream syntax
"proto3" package import public group default deprecated true // /* */ \\ \0 §
"""
WORDS = TEXT.split()


@given(st.lists(st.sampled_from(WORDS), max_size=30))
@settings(deadline=None)
def test_any_words_are_a_schema_or_are_refused(words: list[str]):
    for text in (" ".join(words), 'syntax = "proto3"; message M { ' + " ".join(words) + " }"):
        try:
            schema = parse(SchemaKind.PROTOBUF, text)
        except BadSchema:
            continue
        assert parse(SchemaKind.PROTOBUF, schema.normalized).normalized == schema.normalized
