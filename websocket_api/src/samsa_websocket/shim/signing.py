"""The handshake's signature: AWS Signature Version 4, for `execute-api`.

Credentials are the caller's own, from the places where every AWS tool looks for them. botocore
finds and refreshes them, and is imported only if something has to be signed.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

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
        self._session: Any = None
        self._credentials: Any = None

    async def headers(self, url: str) -> Mapping[str, str]:
        """For one handshake with this URL. Raises ClientRefused if there are no credentials."""
        # Temporary credentials may have to be fetched or renewed first, which takes a while.
        return await asyncio.to_thread(self._sign, url)

    def _sign(self, url: str) -> Mapping[str, str]:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.exceptions import BotoCoreError
        except ImportError:
            raise ClientRefused(NO_BOTOCORE) from None
        try:
            credentials = self._find()
            region = self._region or region_in(url) or self._session.get_config_variable("region")
            if not region:
                raise ClientRefused(NO_REGION)
            asked = AWSRequest("GET", re.sub("^ws", "http", url))
            SigV4Auth(credentials.get_frozen_credentials(), SERVICE, region).add_auth(asked)
        except BotoCoreError as error:
            raise ClientRefused(f"AWS credentials: {error}") from error
        return dict(asked.headers.items())

    def _find(self) -> Any:
        if self._credentials is None:
            from botocore.session import Session

            self._session = Session(profile=self._profile)
            self._credentials = self._session.get_credentials()
        if self._credentials is None:
            raise ClientRefused(NO_CREDENTIALS)
        return self._credentials
