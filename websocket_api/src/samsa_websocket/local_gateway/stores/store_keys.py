"""Keys that only the functions of this gateway have, and the check of what they have signed.

Each environment gets a key, as Lambda gives each credentials of its own. The secret of a key
follows from a master that is made at the start and never stored: a URL that was presigned before a
restart opens nothing.
"""

import hmac
import secrets
from collections.abc import Iterator, Mapping

from samsa.aws.sigv4 import Keys

PREFIX = "LOCAL"


class StoreKeys(Mapping[str, str]):
    """Secrets by access key, as `signature.verify` looks them up."""

    def __init__(self) -> None:
        self._master = secrets.token_bytes(32)

    def issue(self) -> Keys:
        key = f"{PREFIX}{secrets.token_hex(8).upper()}"
        return Keys(key, self[key])

    def __getitem__(self, key: str) -> str:
        # Any name has a secret; it is as good as unknown to all but the functions.
        if not key.startswith(PREFIX):
            raise KeyError(key)
        return hmac.digest(self._master, key.encode(), "sha256").hex()

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class KeysOfBoth(Mapping[str, str]):
    """The keys of callers, and those of functions, which push to callers."""

    def __init__(self, callers: Mapping[str, str], functions: Mapping[str, str]) -> None:
        self._callers = callers
        self._functions = functions

    def __getitem__(self, key: str) -> str:
        return self._callers[key] if key in self._callers else self._functions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._callers)

    def __len__(self) -> int:
        return len(self._callers)
