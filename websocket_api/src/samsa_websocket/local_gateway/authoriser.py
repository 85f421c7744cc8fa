"""AWS_IAM as the authoriser: finds the caller by its signature, if signatures are required."""

from collections.abc import Mapping, Sequence

from .signature import SignatureRefused, SignedRequest, verify

__all__ = ["Authoriser", "SignatureRefused"]


class Authoriser:
    def __init__(
        self, keys: Mapping[str, str] | None, account: str, names: Mapping[str, str]
    ) -> None:
        """`keys` holds the secrets of allowed callers by access key; None allows every caller.
        `names` is who they are: `user/NAME`, or `assumed-role/ROLE/SESSION`. Who is not in it is a
        user named as its key."""
        self._keys = keys
        self._account = account
        self._names = names

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
        name = self._names.get(key, f"user/{key}")
        is_session = name.startswith("assumed-role/")
        # AWS tells a session's id with its name behind a colon.
        identity = f"{key}:{name.rpartition('/')[2]}" if is_session else key
        return {
            "accessKey": key,
            "accountId": self._account,
            "caller": identity,
            "user": identity,
            "userArn": f"arn:aws:{'sts' if is_session else 'iam'}::{self._account}:{name}",
        }
