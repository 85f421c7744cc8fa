"""Protobuf's own options, such as `deprecated` and `java_package`: fields of a message."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from .proto_tokens import Token, unquoted, whole

WORDS = {"true": True, "false": False}


def set_option(options: Any, name: str, value: Token) -> bool:
    """False: it is a custom one, or has parts, and is left out. Raises ValueError, TypeError."""
    field = options.DESCRIPTOR.fields_by_name.get(name)
    if (
        field is None
        or field.message_type is not None
        or field.is_repeated
        or value.kind == "aggregate"
    ):
        return False
    setattr(options, name, _converted(field, value))
    return True


def _converted(field: FieldDescriptor, value: Token) -> Any:
    if field.enum_type is not None:
        found = field.enum_type.values_by_name.get(value.text)
        if found is None:
            raise ValueError(f"{field.name} has no value {value.text!r}")
        return found.number
    if field.type == FieldDescriptor.TYPE_BOOL:
        if value.text not in WORDS:
            raise ValueError(f"{field.name} is true or false, not {value.text!r}")
        return WORDS[value.text]
    if field.type == FieldDescriptor.TYPE_STRING:
        return unquoted(value.text) if value.kind == "text" else value.text
    return whole(value.text)
