"""JSON Schemas. No reference is fetched. Patterns are run by a library whose time grows with the
text only, and never by `re`."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jsonschema_rs

from .budget import Budget, spend_for
from .contents import NamedText, SchemaKind
from .errors import BadSchema, BadValue
from .json_documents import Documents
from .json_rules import JsonRules
from .json_texts import depth_of, parsed, told
from .json_weights import weight

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_OLD = ("draft-04", "draft-06", "draft-07")
_NEW = ("draft/2019-09", "draft/2020-12")
DRAFTS = frozenset(
    f"{scheme}://json-schema.org/{draft}/schema{end}"
    for scheme, drafts in (("http", _OLD), ("https", _NEW))
    for draft in drafts
    for end in ("", "#")
)
PATTERNS = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
EXPLAINED = 100_000
"""Schemas that may be asked to explain a refusal."""
LONGEST_REASON = 500


class JsonSchema:
    kind = SchemaKind.JSON

    def __init__(self, text: str, references: Sequence[NamedText], budget: Budget) -> None:
        """Raises BadSchema."""
        self._schema = parsed(text)
        self._named = {each.name: parsed(each.text) for each in references}
        if not isinstance(self._schema, dict | bool):
            raise BadSchema("a schema is an object, true or false")
        self._documents = Documents(self._schema, self._named, budget)
        self._documents.check(budget)
        self._weight = weight(self._documents, budget)
        try:
            jsonschema_rs.meta.validate(_root(self._schema), registry=_REFUSING)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise BadSchema(_reason(error)) from None
        self.text = told(self._schema, in_order=False)

    @property
    def normalized(self) -> str:
        return told(self._schema)

    @cached_property
    def _validator(self) -> Any:
        """Raises BadSchema."""
        try:
            return jsonschema_rs.validator_for(
                _root(self._schema),
                pattern_options=PATTERNS,
                registry=self._registry(),
                offline=True,
                validate_formats=False,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise BadSchema(_reason(error)) from None

    def _registry(self) -> Any:
        draft = _root(self._schema).get("$schema") if isinstance(self._schema, dict) else DRAFT_7
        named = [(name, _root(schema, draft)) for name, schema in self._named.items()]
        return jsonschema_rs.Registry(named, retriever=_refuse)

    def unread(self, writer: "JsonSchema", budget: Budget) -> list[str]:
        rules = JsonRules(writer._documents, self._documents, _matches, budget)
        return [
            f"{{errorType:'{name}', description:'at path {path!r}'}}"
            for name, path in rules.problems()
        ]

    def decode(self, data: bytes, budget: Budget | None = None) -> Any:
        """Raises BadValue."""
        spend_for(data, budget)
        try:
            value = json.loads(data)
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            raise BadValue("it is no JSON") from None
        return value

    def encode(self, value: Any, budget: Budget) -> bytes:  # noqa: ARG002
        """Raises BadValue."""
        if not self._validator.is_valid(value):
            raise BadValue(self._why_invalid(value))
        return told(value, in_order=False).encode("utf-8", "backslashreplace")

    def _why_invalid(self, value: Any) -> str:
        """To find the reason takes longer than to see that there is one."""
        if self._weight ** depth_of(value) > EXPLAINED:
            return "it does not fit its schema"
        return _reason(next(self._validator.iter_errors(value)))


def _root(schema: Any, draft: str = DRAFT_7) -> Any:
    """Of draft 7, as other registries take it, unless it says another one."""
    known = _with_draft(schema)
    return {"$schema": draft, **known} if isinstance(known, dict) else known


def _with_draft(schema: Any) -> Any:
    """Without drafts that are not known: the library would fetch them, wherever they are."""
    if isinstance(schema, list):
        return [_with_draft(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _with_draft(value)
        for name, value in schema.items()
        if name != "$schema" or value in DRAFTS
    }


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not among the references")


_REFUSING = jsonschema_rs.Registry([], retriever=_refuse)


def _matches(pattern: str, name: str) -> bool:
    """What the library cannot run matches nothing."""
    try:
        return bool(jsonschema_rs.is_valid({"pattern": pattern}, name, pattern_options=PATTERNS))
    except (jsonschema_rs.ValidationError, ValueError):
        return False


def _reason(error: Exception) -> str:
    text = str(getattr(error, "message", None) or error)
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"
