"""Schemas as they are parsed and compared: in a thread of their own, and the last ones are kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from samsa.schemas.budget import STEPS, Budget
from samsa.schemas.compatibility import Level, problems
from samsa.schemas.contents import Content, NamedText, Reference, Registered
from samsa.schemas.errors import BadSchema
from samsa.schemas.parsing import Schema, parse
from samsa.schemas.state import SchemaState

from .refusals import invalid_schema

T = TypeVar("T")
MOST_REFERENCES = 1_000
"""Of a schema, and of those that it refers to, together."""
KEPT_CHARACTERS = 1_000_000
"""Of the texts of schemas that are kept as they were parsed, which takes many times as much."""
LONGEST_TOLD = 10_000
"""Characters of an old schema in a message."""
COMPARED_STEPS = 4 * STEPS
"""For a schema with all that it is compared with: two seconds."""
STEPS_PER_CHARACTER = 0.1


class ParsedSchemas:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, "schemas")
        self._kept: OrderedDict[bytes, tuple[Schema, int]] = OrderedDict()
        self._characters = 0

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    async def parsed(self, content: Content, state: SchemaState) -> Schema:
        """Raises BadSchema, NotInstalled, RegistryRefusal."""
        return await self.in_thread(self._parsed, content, named_texts(content, state))

    def _parsed(self, content: Content, references: Sequence[NamedText]) -> Schema:
        digest = content.digest()
        if digest in self._kept:
            self._kept.move_to_end(digest)
            return self._kept[digest][0]
        schema = parse(content.kind, content.text, references)
        size = len(content.text) + sum(len(each.text) for each in references)
        self._kept[digest] = schema, size
        self._characters += size
        while self._characters > KEPT_CHARACTERS and len(self._kept) > 1:
            self._characters -= self._kept.popitem(last=False)[1][1]
        return schema

    async def problems(
        self, level: Level, new: Schema, others: Sequence[Registered], state: SchemaState
    ) -> list[str]:
        """Why the schema does not fit to one of them, newest first. Raises BadSchema."""
        older = [(each, named_texts(each.content, state)) for each in reversed(others)]
        return await self.in_thread(self._problems, level, new, older)

    def _problems(
        self,
        level: Level,
        new: Schema,
        older: Sequence[tuple[Registered, Sequence[NamedText]]],
    ) -> list[str]:
        budget = Budget(COMPARED_STEPS)
        for each, references in older:
            budget.spend(round(len(each.content.text) * STEPS_PER_CHARACTER))
            try:
                old = self._parsed(each.content, references)
            except BadSchema:  # of another registry, with other rules
                continue
            if found := problems(level, new, old, budget):
                return [
                    *found,
                    f"{{oldSchemaVersion: {each.version}}}",
                    f"{{oldSchema: '{each.content.text[:LONGEST_TOLD]}'}}",
                    f"{{compatibility: '{level.value}'}}",
                ]
        return []


def named_texts(content: Content, state: SchemaState) -> list[NamedText]:
    """What a schema refers to, directly and by others, each after those that it refers to itself.
    Raises RegistryRefusal."""
    found: dict[str, NamedText] = {}
    seen: set[Reference] = set()
    waiting = [(each, False) for each in reversed(content.references)]
    while waiting:
        reference, is_done = waiting.pop()
        inner = state.referred(reference)
        if inner is None:
            named = f'No schema reference found for subject "{reference.subject}"'
            raise invalid_schema(f"{named} and version {reference.version}")
        if is_done:
            found.setdefault(reference.name, NamedText(reference.name, inner.text))
        elif reference not in seen:
            seen.add(reference)
            waiting.append((reference, True))
            waiting += [(each, False) for each in reversed(inner.references)]
        if len(seen) > MOST_REFERENCES or len(waiting) > 10 * MOST_REFERENCES:
            raise invalid_schema(f"it refers to more than {MOST_REFERENCES} schemas")
    return list(found.values())
