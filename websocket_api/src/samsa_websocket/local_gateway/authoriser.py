"""AWS_IAM as the authoriser: finds the caller by its signature, if signatures are required."""

from collections.abc import Mapping, Sequence

from .signature import SignatureRefused, SignedRequest, verify

__all__ = ["Authoriser", "SignatureRefused"]


class Authoriser:
    def __init__(self, keys: Mapping[str, str] | None, account: str) -> None:
        """`keys` holds the secrets of allowed callers by access key; None allows every caller."""
        self._keys = keys
        self._account = account

    def caller(
        self,
        method: str,
        path: str,
        query: str,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        now: float,
    ) -> dict[str, str]:
        """What events say of the caller. Raises SignatureRefused."""
        if self._keys is None:
            return {}
        key = verify(SignedRequest(method, path, query, headers, body), self._keys, now)
        return {
            "accessKey": key,
            "accountId": self._account,
            "caller": key,
            "user": key,
            "userArn": f"arn:aws:iam::{self._account}:user/{key}",
        }
