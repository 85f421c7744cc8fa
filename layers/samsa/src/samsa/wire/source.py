"""Collects the source text of a generated function, and the values it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from struct import Struct as Packer
from typing import Any


@cache
def packer(codes: str) -> Packer:
    return Packer(">" + codes)


class GeneratedSource:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names: dict[str, Any] = dict(names)
        self._lines: list[str] = []
        self._indent = "\n "
        self._count = 0

    def emit(self, *lines: str) -> None:
        self._lines.extend(self._indent + line for line in lines)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.emit(opening)
        self._indent += " "
        yield
        self._indent = self._indent[:-1]

    def fresh(self, prefix: str) -> str:
        """A variable that nothing else uses, so that inlined structs cannot collide."""
        self._count += 1
        return f"{prefix}{self._count}"

    def constant(self, value: Any) -> str:
        name = self.fresh("k")
        self.names[name] = value
        return name

    def packing(self, method: str, codes: str) -> str:
        """The name of a packer's bound method, kept once per run of codes."""
        name = f"{method}_{codes.replace('?', '_')}"
        self.names[name] = getattr(packer(codes), method)
        return name

    def function(self, parameter: str, label: str) -> Any:
        text = f"def codec({parameter}):" + "".join(self._lines)
        exec(compile(text, f"<{label}>", "exec"), self.names)  # noqa: S102  # made of our own tables
        return self.names["codec"]
