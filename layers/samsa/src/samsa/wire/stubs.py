"""Writes stubs of the message tables for type checkers: `messages/heartbeat.pyi` of `heartbeat.py`.

    python -m samsa.wire.stubs           # writes them
    python -m samsa.wire.stubs --check   # names those that differ from their tables

The classes of rows are created when a table is loaded: without stubs every field would be `Any`. A
class has Kafka's name for the struct. Import it for annotations only: `if TYPE_CHECKING:`.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from samsa.wire import messages
from samsa.wire.schema import (
    BOOLEAN,
    BYTES,
    FLOAT64,
    RECORDS,
    STRING,
    UUID,
    Field,
    Message,
    Struct,
)
from samsa.wire.types import Primitive

FOLDER: Final = Path(messages.__path__[0])
FIRST_LINE: Final = "# Generated from {} by python -m samsa.wire.stubs."
_TYPES: Final = {
    BOOLEAN: "bool",
    BYTES: "bytes | memoryview",
    FLOAT64: "float",
    RECORDS: "memoryview",
    STRING: "str",
    UUID: "uuid.UUID",
}
"""As the decoder returns them; all others are integers."""


def stub(table: ModuleType) -> str:
    """The text of a table's stub."""
    structs = {name: one for name, one in vars(table).items() if isinstance(one, Struct)}
    classes = _class_names(structs)
    body = [_class(one, classes) for one in structs.values()]
    body.append("\n".join(_names(table, classes)) + "\n")
    file = f"{table.__name__.rpartition('.')[2]}.py"
    head = FIRST_LINE.format(file) + "\n" + _imports(structs, "".join(body))
    return head + "\n" + "\n".join(body)


def _class_names(structs: dict[str, Struct]) -> dict[Struct, str]:
    """Kafka's names; if two structs have one name, the second is the response's."""
    found: dict[Struct, str] = {}
    for struct in structs.values():
        taken = struct.name in found.values()
        found[struct] = f"{struct.name}Response" if taken else struct.name
    return found


def _imports(structs: dict[str, Struct], body: str) -> str:
    kinds = {"Row"} | {_kind(one) for one in structs.values()}
    if ": Segment =" in body:
        kinds.add("Segment")
    imports = f"from samsa.wire.schema import {', '.join(sorted(kinds))}\n"
    return f"import uuid\n\n{imports}" if "uuid." in body else imports


def _kind(struct: Struct) -> str:
    return "MessageOf" if isinstance(struct, Message) else "StructOf"


def _class(struct: Struct, classes: dict[Struct, str]) -> str:
    lines = [f"class {classes[struct]}(Row):"]
    lines += [f"    {one.name}: {_type(one, classes)}" for one in struct.fields]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {one.name}: {_given(one, classes)} = ...," for one in struct.fields]
    lines += ["    ) -> None: ..."]
    return "\n".join(lines if struct.fields else [f"{lines[0]} ..."]) + "\n"


def _type(field: Field, classes: dict[Struct, str]) -> str:
    known = field.type
    name = _TYPES.get(known, "int") if isinstance(known, Primitive) else classes[known]
    name = f"list[{name}]" if field.is_array else name
    may_be_null = field.nullable_since is not None or field.default is None
    return f"{name} | None" if may_be_null else name


def _given(field: Field, classes: dict[Struct, str]) -> str:
    """The type for `__init__`. Records may be given as any segment that the writer can send."""
    return "Segment" if field.type is RECORDS else _type(field, classes)


def _names(table: ModuleType, classes: dict[Struct, str]) -> Iterator[str]:
    for name, one in vars(table).items():
        if isinstance(one, Struct):
            yield f"{name}: {_kind(one)}[{classes[one]}]"
        elif isinstance(one, int):
            yield f"{name}: int"


def stubs() -> dict[str, str]:
    """The texts of all stubs, by file name."""
    tables = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
    return {f"{name}.pyi": stub(import_module(f"{messages.__name__}.{name}")) for name in tables}


def differing(folder: Path) -> list[str]:
    """Names of stubs that differ from their tables, are missing, or have no table."""
    wanted = stubs()
    held = {path.name: path.read_text() for path in folder.glob("*.pyi")}
    return sorted(name for name in {**wanted, **held} if wanted.get(name) != held.get(name))


def write(folder: Path) -> None:
    wanted = stubs()
    for name in differing(folder):
        if name in wanted:
            (folder / name).write_text(wanted[name])
        else:
            (folder / name).unlink()


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    parser = ArgumentParser(description="Write the stubs of the message tables.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if any differs")
    if not parser.parse_args(arguments).check:
        write(folder)
        return 0
    names = differing(folder)
    for name in names:
        print(f"{name} is not as its table says. Try: python -m samsa.wire.stubs")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
