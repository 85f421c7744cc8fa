"""Tokens: the names of open slots. Each carries how many offsets it holds, and since when."""

from typing import NamedTuple


class Token(NamedTuple):
    offsets: int
    opened_at: int
    nonce: str

    def __str__(self) -> str:
        return f"{self.offsets}.{self.opened_at}.{self.nonce}"

    @classmethod
    def parse(cls, text: str) -> "Token":
        offsets, opened_at, nonce = text.split(".", 2)
        return cls(int(offsets), int(opened_at), nonce)


def covers(token: str, base: int, offset: int) -> bool:
    """Whether the open slot `token`, which starts at `base`, holds `offset`."""
    return base <= offset < base + Token.parse(token).offsets
