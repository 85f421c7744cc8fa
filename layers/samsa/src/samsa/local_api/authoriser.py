"""AWS_IAM as the authoriser: whose signature is this? Where none is asked for, everybody's."""

from collections.abc import Mapping, Sequence

from .signature import Refused, Request, verify

__all__ = ["Authoriser", "Refused"]


class Authoriser:
    def __init__(self, keys: Mapping[str, str] | None, account: str) -> None:
        """`keys` holds the secrets by access key of who may come; None lets everybody in."""
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
        """What events say of the caller. Raises Refused."""
        if self._keys is None:
            return {}
        key = verify(Request(method, path, query, headers, body), self._keys, now)
        return {
            "accessKey": key,
            "accountId": self._account,
            "caller": key,
            "user": key,
            "userArn": f"arn:aws:iam::{self._account}:user/{key}",
        }
