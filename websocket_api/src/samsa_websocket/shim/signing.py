"""The handshake's signature: AWS Signature Version 4, for `execute-api`.

Credentials are the caller's own: the keys of the environment, or what botocore finds and refreshes
where every AWS tool looks for them. botocore is imported only if it is needed.
"""

import asyncio
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from samsa.aws.credentials import Credentials, region_or, stamp
from samsa.aws.sigv4 import Signer, sorted_query
from samsa.ports import Misconfigured, Unavailable
from samsa_websocket.shim.errors import ClientRefused

REGION_IN_HOST = re.compile(r"\.execute-api\.([a-z0-9-]+)\.[a-z0-9.-]+$")
SERVICE = "execute-api"
NO_BOTOCORE = "signing needs botocore: pip install boto3, or --no-sign"
NO_CREDENTIALS = (
    "there are no AWS credentials. Set AWS_PROFILE or AWS_ACCESS_KEY_ID, "
    "or give --no-sign for a local API Gateway"
)
NO_REGION = "the AWS region is in neither the URL nor the settings: give --region"


def region_in(url: str) -> str | None:
    found = REGION_IN_HOST.search(urlsplit(url).hostname or "")
    return found[1] if found else None


class HandshakeSigner:
    def __init__(self, profile: str | None, region: str | None) -> None:
        self._profile = profile
        self._region = region
        self._credentials = Credentials(profile)

    async def headers(self, url: str) -> Mapping[str, str]:
        """For one handshake with this URL. Raises ClientRefused if there are no credentials."""
        try:
            keys = await self._credentials.keys()
        except ImportError:
            raise ClientRefused(NO_BOTOCORE) from None
        except Misconfigured:
            raise ClientRefused(NO_CREDENTIALS) from None
        except Unavailable as error:
            raise ClientRefused(str(error)) from error
        signer, parts = Signer(SERVICE, await self._region_for(url)), urlsplit(url)
        host, query = _host_header(url), sorted_query(parts.query)
        headers = signer.headers(
            keys, stamp(), "GET", parts.path or "/", {"host": host}, b"", query
        )
        del headers["host"]  # the handshake has its own
        return headers

    async def _region_for(self, url: str) -> str:
        if named := self._region or region_in(url):
            return named
        try:
            return await asyncio.to_thread(region_or, None, profile=self._profile)
        except Misconfigured:
            raise ClientRefused(NO_REGION) from None


def _host_header(url: str) -> str:
    """As WebSocket clients send it: without the scheme's own port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = {"ws": 80, "wss": 443}.get(parts.scheme)
    return host if parts.port in (None, usual) else f"{host}:{parts.port}"
