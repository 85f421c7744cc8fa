"""The Authorization header of HTTP: Basic (RFC 7617) and Bearer (RFC 6750)."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from typing import NamedTuple

BASIC = 'Basic realm="Samsa", charset="UTF-8"'
BEARER = 'Bearer realm="Samsa"'
"""What WWW-Authenticate says."""
_BASIC = re.compile(r"(?i:basic) +(?P<pair>[A-Za-z0-9+/]+={0,2})")
_BEARER = re.compile(r"(?i:bearer) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)")


class Basic(NamedTuple):
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Basic({self.user!r})"


class Bearer(NamedTuple):
    token: str

    def __repr__(self) -> str:
        return "Bearer()"


def read(authorization: str) -> Basic | Bearer:
    """Raises ValueError, which quotes nothing."""
    bearer = _BEARER.fullmatch(authorization.strip())
    if bearer is not None:
        return Bearer(bearer["token"])
    basic = _BASIC.fullmatch(authorization.strip())
    if basic is None:
        raise ValueError("neither Basic nor Bearer")
    try:
        pair = b64decode(basic["pair"], validate=True).decode()
    except (NotBase64, UnicodeDecodeError):
        raise ValueError("Basic without Base64 of UTF-8") from None
    user, colon, password = pair.partition(":")
    if not colon:
        raise ValueError("Basic without a colon between user and password")
    return Basic(user, password)
