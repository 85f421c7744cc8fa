"""@connections: pushes a text to a client of API Gateway's WebSocket."""

from urllib.parse import quote, urlsplit

from samsa.aws.credentials import Credentials, region_or, stamp
from samsa.aws.http import Http, Patience, post
from samsa.aws.http_answer import BadAnswer
from samsa.aws.sigv4 import UNRESERVED, Signer
from samsa.ports import Misconfigured, Unavailable

CONNECTIONS = 16
PUSH = Patience(connect_s=1.0, read_s=2.0, tries=1)
GONE = 410
REFUSED = (401, 403)


class Gone(Exception):
    """The connection does not exist any more."""


class ConnectionsApi:
    """`url` is the stage's: https://{api}.execute-api.{region}.amazonaws.com/{stage}."""

    def __init__(self, url: str, region: str | None = None) -> None:
        self._http = Http(url, CONNECTIONS, PUSH)
        self._path = urlsplit(url).path.rstrip("/")
        self._signer = Signer("execute-api", region_or(region))
        self._credentials = Credentials()

    async def post(self, connection_id: str, text: str) -> None:
        """One try. Raises Gone; Unavailable; Misconfigured."""
        path = f"{self._path}/@connections/{quote(connection_id, safe=UNRESERVED)}"
        body = text.encode()
        keys = await self._credentials.keys()
        signed = self._signer.headers(keys, stamp(), "POST", path, {"host": self._http.host}, body)
        try:
            answer = await self._http.ask(post(path, signed, body))
        except (OSError, BadAnswer) as error:
            raise Unavailable(f"@connections: {str(error) or type(error).__name__}") from error
        if answer.status == GONE:
            raise Gone(connection_id)
        if answer.status in REFUSED:
            raise Misconfigured(f"@connections: {answer.status} {answer.body[:200]!r}")
        if answer.status >= 300:
            raise Unavailable(f"@connections: {answer.status} {answer.body[:200]!r}")

    async def close(self) -> None:
        await self._http.close()
