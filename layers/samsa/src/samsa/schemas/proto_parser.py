"""A .proto text as a FileDescriptorProto: proto2, proto3 and the syntax of editions.

Names are not resolved here: the descriptor pool of the library does that, and checks the rest.
Options that are not Protobuf's own are skipped, and `has_custom_options` says so.
"""

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2 as pb

from .budget import Budget, raise_if_deep
from .errors import BadSchema
from .proto_options import set_option
from .proto_tokens import END, Token, line_of, tokens, unquoted, whole

Type = pb.FieldDescriptorProto.Type
Label = pb.FieldDescriptorProto.Label
SCALARS = {
    name: getattr(pb.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in (
        "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string",
        "bytes", "uint32", "sfixed32", "sfixed64", "sint32", "sint64",
    )
}  # fmt: skip
LABELS = {
    "optional": pb.FieldDescriptorProto.LABEL_OPTIONAL,
    "required": pb.FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": pb.FieldDescriptorProto.LABEL_REPEATED,
}
LAST_FIELD, LAST_VALUE = 2**29 - 1, 2**31 - 1


class ProtoParser:
    def __init__(self, name: str, text: str, budget: Budget) -> None:
        self._text = text
        self._tokens = list(tokens(text, budget))
        self._at = 0
        self._depth = 0
        self.file = pb.FileDescriptorProto(name=name)
        self.has_custom_options = False

    def parse(self) -> pb.FileDescriptorProto:
        """Raises BadSchema."""
        try:
            while self._next is not END:
                self._statement()
        except (ValueError, TypeError) as error:  # a number or a text that the field cannot hold
            raise self._wrong(str(error)) from None
        return self.file

    def _statement(self) -> None:
        word = self._take().text
        known: dict[str, Callable[[], None]] = {
            "syntax": self._syntax,
            "edition": self._syntax,
            "package": self._package,
            "import": self._import,
            "option": lambda: self._option(self.file.options),
            "message": lambda: self._message(self.file.message_type.add()),
            "enum": lambda: self._enum(self.file.enum_type.add()),
            "service": self._service,
            "extend": lambda: self._extend(self.file.extension, self.file.message_type),
            ";": lambda: None,
        }
        if word not in known:
            raise self._wrong(f"{word!r} begins nothing that a file has")
        known[word]()

    def _syntax(self) -> None:
        is_edition = self._tokens[self._at - 1].text == "edition"
        self._expect("=")
        given = self._string()
        self._expect(";")
        if is_edition:
            self.file.syntax = "editions"
            self.file.edition = pb.Edition.Value(f"EDITION_{given}")
        elif given not in ("proto2", "proto3"):
            raise self._wrong(f"there is no syntax {given!r}")
        elif given == "proto3":
            self.file.syntax = given

    def _package(self) -> None:
        self.file.package = self._full_name()
        self._expect(";")

    def _import(self) -> None:
        how = self._take().text if self._next.text in ("public", "weak", "option") else ""
        name = self._string()
        self._expect(";")
        if how == "option":
            return
        if how:
            numbers = self.file.public_dependency if how == "public" else self.file.weak_dependency
            numbers.append(len(self.file.dependency))
        self.file.dependency.append(name)

    def _message(self, message: pb.DescriptorProto) -> None:
        message.name = self._name()
        self._message_body(message)

    def _message_body(self, message: pb.DescriptorProto) -> None:
        self._block(lambda: self._member(message))
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _block(self, statement: Callable[[], None]) -> None:
        self._expect("{")
        self._depth += 1
        raise_if_deep(4 * self._depth)
        while not self._accept("}"):
            if not self._accept(";"):
                statement()
        self._depth -= 1

    def _member(self, message: pb.DescriptorProto) -> None:
        word, after = self._next.text, self._ahead(1)
        starts_block = after.kind == "name" and self._ahead(2).text == "{"
        if word == "option" and (after.kind == "name" or after.text == "(") and self._is_option():
            self._take()
            self._option(message.options)
        elif word == "message" and starts_block:
            self._take()
            self._message(message.nested_type.add())
        elif word == "enum" and starts_block:
            self._take()
            self._enum(message.enum_type.add())
        elif word == "oneof" and starts_block:
            self._take()
            self._oneof(message)
        elif word == "extend" and self._is_extension():
            self._take()
            self._extend(message.extension, message.nested_type)
        elif word in ("reserved", "extensions") and self._is_range(after):
            self._take()
            self._ranges(message, word)
        else:
            self._field(message.field.add(), message.nested_type)

    def _is_option(self) -> bool:
        """A field's type may be named `option`, too: then a name and a number follow."""
        return self._ahead(2).text in ("=", ".", ")") or self._ahead(1).text == "("

    def _is_extension(self) -> bool:
        at = 1
        while self._ahead(at).kind == "name" or self._ahead(at).text == ".":
            at += 1
        return self._ahead(at).text == "{"

    def _is_range(self, after: Token) -> bool:
        return after.kind in ("number", "text") or self._ahead(2).text in (",", ";")

    def _oneof(self, message: pb.DescriptorProto) -> None:
        number = len(message.oneof_decl)
        oneof = message.oneof_decl.add(name=self._name())

        def member() -> None:
            if self._next.text == "option" and self._is_option():
                self._take()
                self._option(oneof.options)
            else:
                self._field(message.field.add(oneof_index=number), message.nested_type)

        self._block(member)

    def _field(self, field: pb.FieldDescriptorProto, nested: Any) -> None:
        field.label = pb.FieldDescriptorProto.LABEL_OPTIONAL
        word = self._next.text
        if word in LABELS and self._ahead(1).text != "=" and self._ahead(2).text != "=":
            self._take()
            field.label = LABELS[word]
            field.proto3_optional = word == "optional" and self.file.syntax == "proto3"
        if self._next.text == "map" and self._ahead(1).text == "<":
            self._map(field, nested)
            return
        if self._next.text == "group" and self._ahead(2).text == "=":
            self._group(field, nested)
            return
        self._type(field)
        self._rest_of_field(field)

    def _type(self, field: pb.FieldDescriptorProto) -> None:
        name = self._full_name()
        if name in SCALARS:
            field.type = SCALARS[name]
        else:
            field.type_name = name

    def _rest_of_field(self, field: pb.FieldDescriptorProto) -> None:
        field.name = self._name()
        self._expect("=")
        field.number = self._whole()
        self._field_options(field)
        self._expect(";")

    def _field_options(self, field: pb.FieldDescriptorProto) -> None:
        for name, value in self._bracketed():
            if name == "default":
                field.default_value = _default(value)
            elif name == "json_name":
                field.json_name = value.text if value.kind != "text" else unquoted(value.text)
            else:
                set_option(field.options, name, value)

    def _map(self, field: pb.FieldDescriptorProto, nested: Any) -> None:
        entry = nested.add()
        self._expect("map")
        self._expect("<")
        key = entry.field.add(name="key", number=1, label=LABELS["optional"])
        self._type(key)
        self._expect(",")
        value = entry.field.add(name="value", number=2, label=LABELS["optional"])
        self._type(value)
        self._expect(">")
        entry.options.map_entry = True
        field.label = LABELS["repeated"]
        field.proto3_optional = False
        self._rest_of_field(field)
        entry.name = map_entry_name(field.name)
        field.type_name = entry.name

    def _group(self, field: pb.FieldDescriptorProto, nested: Any) -> None:
        self._expect("group")
        message = nested.add(name=self._name())
        self._expect("=")
        field.number = self._whole()
        self._field_options(field)
        field.name, field.type_name = message.name.lower(), message.name
        field.type = pb.FieldDescriptorProto.TYPE_GROUP
        self._message_body(message)

    def _ranges(self, holder: Any, word: str) -> None:
        is_enum = isinstance(holder, pb.EnumDescriptorProto)
        while True:
            if self._next.kind in ("text", "name"):
                holder.reserved_name.append(
                    self._string() if self._next.kind == "text" else self._name()
                )
            else:
                first = last = self._whole()
                if self._accept("to"):
                    most = LAST_VALUE if is_enum else LAST_FIELD
                    last = most if self._accept("max") else self._whole()
                where = holder.extension_range if word == "extensions" else holder.reserved_range
                where.add(start=first, end=last if is_enum else last + 1)
            if not self._accept(","):
                break
        for _ in self._bracketed():  # declarations of extensions say nothing of bytes
            self.has_custom_options = True
        self._expect(";")

    def _enum(self, enum: pb.EnumDescriptorProto) -> None:
        enum.name = self._name()

        def member() -> None:
            if self._next.text == "option" and self._is_option():
                self._take()
                self._option(enum.options)
            elif self._next.text == "reserved" and self._ahead(1).text != "=":
                self._take()
                self._ranges(enum, "reserved")
            else:
                value = enum.value.add(name=self._name())
                self._expect("=")
                value.number = self._whole()
                for name, given in self._bracketed():
                    set_option(value.options, name, given)
                self._expect(";")

        self._block(member)

    def _service(self) -> None:
        service = self.file.service.add(name=self._name())

        def member() -> None:
            if self._accept("option"):
                self._option(service.options)
                return
            self._expect("rpc")
            method = service.method.add(name=self._name())
            method.client_streaming, method.input_type = self._streamed()
            self._expect("returns")
            method.server_streaming, method.output_type = self._streamed()
            if not self._accept(";"):
                self._block(lambda: self._method_option(method))

        self._block(member)

    def _method_option(self, method: pb.MethodDescriptorProto) -> None:
        self._expect("option")
        self._option(method.options)

    def _streamed(self) -> tuple[bool, str]:
        self._expect("(")
        is_stream = self._next.text == "stream" and not self._is_name_of_type()
        if is_stream:
            self._take()
        name = self._full_name()
        self._expect(")")
        return is_stream, name

    def _is_name_of_type(self) -> bool:
        """A type may be named `stream`, too: nothing follows, or a dot at once."""
        after = self._ahead(1)
        is_at_once = after.at == self._next.at + len(self._next.text)
        return after.text == ")" or (after.text == "." and is_at_once)

    def _extend(self, extensions: Any, nested: Any) -> None:
        extended = self._full_name()

        def member() -> None:
            field = extensions.add(extendee=extended)
            self._field(field, nested)
            field.proto3_optional = False

        self._block(member)

    def _option(self, options: Any) -> None:
        name = self._option_name()
        self._expect("=")
        value = self._value()
        if not set_option(options, name, value):
            self.has_custom_options = True
        self._expect(";")

    def _bracketed(self) -> list[tuple[str, Token]]:
        """`[name = value, …]`, if that is next. Custom options are left out."""
        found: list[tuple[str, Token]] = []
        if not self._accept("["):
            return found
        while True:
            name = self._option_name()
            self._accept("=")  # a declaration of extensions has `declaration = {…}`
            value = self._value()
            if name.startswith("(") or "." in name:
                self.has_custom_options = True
            else:
                found.append((name, value))
            if not self._accept(","):
                break
        self._expect("]")
        return found

    def _option_name(self) -> str:
        """A custom one begins with a parenthesis."""
        if not self._accept("("):
            first = self._name()
        else:
            first = f"({self._full_name()})"
            self._expect(")")
        while self._accept("."):
            if self._accept("("):
                first += f".({self._full_name()})"
                self._expect(")")
            else:
                first += f".{self._name()}"
        return first

    def _value(self) -> Token:
        if self._next.text == "{":
            self._skip_aggregate()
            return Token("aggregate", "", -1)
        sign = self._take().text if self._next.text in ("-", "+") else ""
        token = self._take()
        text = token.text
        while token.kind == "text" and self._next.kind == "text":
            text = f"{text[:-1]}{self._take().text[1:-1]}{text[0]}"
        if token.kind not in ("name", "number", "text"):
            raise self._wrong(f"{text!r} is no value")
        return Token(token.kind, "-" * (sign == "-") + text, token.at)

    def _skip_aggregate(self) -> None:
        depth = 0
        while True:
            text = self._take().text
            depth += (text in ("{", "[")) - (text in ("}", "]"))
            if depth == 0:
                return

    def _full_name(self) -> str:
        first = "." if self._accept(".") else ""
        name = first + self._name()
        while self._accept("."):
            name += f".{self._name()}"
        return name

    def _name(self) -> str:
        token = self._take()
        if token.kind != "name":
            raise self._wrong(f"a name was expected, not {token.text!r}")
        return token.text

    def _string(self) -> str:
        value = self._value()
        if value.kind != "text":
            raise self._wrong("a text in quotes was expected")
        return unquoted(value.text)

    def _whole(self) -> int:
        value = self._value()
        sign = -1 if value.text.startswith("-") else 1
        return sign * whole(value.text.removeprefix("-"))

    @property
    def _next(self) -> Token:
        return self._ahead(0)

    def _ahead(self, count: int) -> Token:
        at = self._at + count
        return self._tokens[at] if at < len(self._tokens) else END

    def _take(self) -> Token:
        token = self._next
        if token is END:
            raise self._wrong("the text ends too early")
        self._at += 1
        return token

    def _accept(self, text: str) -> bool:
        found = self._next.text == text and self._next.kind != "text"
        self._at += found
        return found

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._wrong(f"{text!r} was expected, not {self._next.text!r}")

    def _wrong(self, why: str) -> BadSchema:
        at = self._tokens[min(self._at, len(self._tokens) - 1)].at if self._tokens else -1
        return BadSchema(f"line {line_of(self._text, at)}: {why}")


def map_entry_name(field: str) -> str:
    """As protoc makes it: `shipping_address` has the entries `ShippingAddressEntry`."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _default(value: Token) -> str:
    return unquoted(value.text) if value.kind == "text" else value.text
