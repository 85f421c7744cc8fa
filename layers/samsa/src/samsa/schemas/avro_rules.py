"""Whether one Avro schema reads what was written with another: schema resolution."""

from collections.abc import Iterator

from .avro_types import NOTHING, AvroField, AvroType
from .budget import Budget

PROMOTED = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}
"""What a writer's type may be read as."""

Found = Iterator[tuple[str, str, str]]
"""Problems: the name of each, where it is in the reader's schema, and what it is about."""


class AvroRules:
    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._seen: dict[tuple[int, int], bool] = {}
        """Whether a reader and a writer fit, or are being compared."""
        self._labels: dict[int, dict[str, AvroType]] = {}
        """The branches of unions by their names."""

    def problems(self, reader: AvroType, writer: AvroType) -> list[tuple[str, str, str]]:
        """Raises TooComplex."""
        return list(self._compare(reader, writer, "/"))

    def _fits(self, reader: AvroType, writer: AvroType) -> bool:
        pair = id(reader), id(writer)
        if pair not in self._seen:
            self._seen[pair] = True
            self._seen[pair] = next(self._compare(reader, writer, "/", is_new=True), None) is None
        return self._seen[pair]

    def _compare(
        self, reader: AvroType, writer: AvroType, path: str, is_new: bool = False
    ) -> Found:
        self._budget.spend()
        if writer.kind == "union":
            yield from self._from_union(reader, writer, path)
        elif reader.kind == "union":
            if not any(self._fits(each, writer) for each in self._branches(reader, writer)):
                yield "MISSING_UNION_BRANCH", path, writer.label
        elif reader.kind != writer.kind:
            if reader.kind not in PROMOTED.get(writer.kind, ()):
                yield "TYPE_MISMATCH", path, f"{reader.label} cannot read {writer.label}"
        elif reader.items is not None:
            assert writer.items is not None
            inner = "items" if reader.kind == "array" else "values"
            yield from self._compare(reader.items, writer.items, f"{path}{inner}/")
        elif reader.name:
            yield from self._named(reader, writer, path, is_new)

    def _branches(self, reader: AvroType, writer: AvroType) -> Iterator[AvroType]:
        """The branch of the same name first: unions may have thousands."""
        if id(reader) not in self._labels:
            self._labels[id(reader)] = {each.label: each for each in reader.branches}
        same = self._labels[id(reader)].get(writer.label)
        if same is not None:
            yield same
        yield from reader.branches

    def _from_union(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        for number, branch in enumerate(writer.branches):
            if not self._fits(reader, branch):
                yield "MISSING_UNION_BRANCH", f"{path}{number}", branch.label

    def _named(self, reader: AvroType, writer: AvroType, path: str, is_new: bool) -> Found:
        if not _same_name(reader, writer):
            yield "NAME_MISMATCH", f"{path}name", writer.name
            return
        if reader.kind == "fixed" and reader.size != writer.size:
            yield "FIXED_SIZE_MISMATCH", f"{path}size", f"{writer.size}"
        if reader.kind == "enum" and reader.default is None:
            known = set(reader.symbols)
            self._budget.spend(len(writer.symbols) // 10)
            missing = [each for each in writer.symbols if each not in known]
            if missing:
                yield "MISSING_ENUM_SYMBOLS", f"{path}symbols", ", ".join(missing)
        if reader.kind == "record":
            pair = id(reader), id(writer)
            if pair in self._seen and not is_new:
                if not self._seen[pair]:
                    yield "TYPE_MISMATCH", path, writer.name
                return
            self._seen[pair] = True
            problems = list(self._fields(reader, writer, path))
            self._seen[pair] = not problems
            yield from problems

    def _fields(self, reader: AvroType, writer: AvroType, path: str) -> Found:
        written = {each.name: each for each in writer.fields}
        self._budget.spend(len(written))
        for number, each in enumerate(reader.fields):
            at = f"{path}fields/{number}"
            found = _written(each, written)
            if found is not None:
                yield from self._compare(each.type, found.type, f"{at}/type/")
            elif each.default is NOTHING:
                yield "READER_FIELD_MISSING_DEFAULT_VALUE", at, each.name


def _written(reader: AvroField, written: dict[str, AvroField]) -> AvroField | None:
    names = (reader.name, *reader.aliases)
    return next((written[name] for name in names if name in written), None)


def _same_name(reader: AvroType, writer: AvroType) -> bool:
    """Without their namespaces, as Java's library compares them; or by an alias."""
    simple = writer.name.rpartition(".")[2]
    return reader.name.rpartition(".")[2] == simple or writer.name in reader.aliases
