"""AWS credentials: keys of the environment are used directly, all others come from botocore.

A function, and most processes, have their keys in the environment. For profiles, roles, containers
and instances botocore is imported. It is called in a thread, because it may make network calls.
"""

import asyncio
import os
import time
from typing import Any
from urllib.parse import urlsplit

from samsa.aws.sigv4 import Keys
from samsa.ports import Misconfigured, Unavailable

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
ANY_REGION = "us-east-1"
"""The region in signatures for a local store."""
DOMAINS = {
    "cn-": "amazonaws.com.cn",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "eu-isoe-": "cloud.adc-e.uk",
    "us-isof-": "csp.hci.ic.gov",
    "eusc-": "amazonaws.eu",
}
"""By the prefix of a region's name; all others have amazonaws.com, also those of GovCloud."""


def stamp() -> str:
    """The current time, in the format of signatures."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


class Credentials:
    def __init__(self, profile: str | None = None) -> None:
        """With a profile, the keys of the environment are not used."""
        self._kept = None if profile else _from_environment()
        self._profile = profile
        self._provider: Any = None

    async def keys(self) -> Keys:
        """Raises Misconfigured if there are none."""
        if self._kept is not None:
            return self._kept
        if self._provider is None or self._provider.refresh_needed():
            return await asyncio.to_thread(self._ask)
        return _frozen(self._provider)

    def _ask(self) -> Keys:
        from botocore.exceptions import BotoCoreError

        try:
            if self._provider is None:
                self._provider = _find_provider(self._profile)
            return _frozen(self._provider)
        except BotoCoreError as error:
            raise Unavailable(f"AWS credentials: {error}") from error


def _from_environment() -> Keys | None:
    access, secret = (
        os.environ.get(f"AWS_{n}", "") for n in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")
    )
    return Keys(access, secret, os.environ.get("AWS_SESSION_TOKEN", "")) if access else None


def _find_provider(profile: str | None) -> Any:
    from botocore.session import Session

    found = Session(profile=profile).get_credentials()
    if found is None:
        raise Misconfigured("there are no AWS credentials; set AWS_PROFILE or AWS_ACCESS_KEY_ID")
    if not hasattr(found, "refresh_needed"):
        found.refresh_needed = lambda: False  # keys of a profile do not expire
    return found


def _frozen(provider: Any) -> Keys:
    keys = provider.get_frozen_credentials()
    return Keys(keys.access_key, keys.secret_key, keys.token or "")


def region_or(given: str | None, endpoint: str | None = None, profile: str | None = None) -> str:
    """With an endpoint given, any region will do. Raises Misconfigured if no region is known."""
    found = given or next((os.environ[name] for name in REGIONS if os.environ.get(name)), None)
    found = found or _region_of_profile(profile) or (endpoint and ANY_REGION)
    if not found:
        raise Misconfigured("no AWS region is known; give region=… or set AWS_REGION")
    return found


def _region_of_profile(profile: str | None) -> str | None:
    try:
        from botocore.session import Session
    except ImportError:
        return None
    region: str | None = Session(profile=profile).get_config_variable("region")
    return region


def endpoint_or(given: str | None, service: str, region: str) -> str:
    """Raises Misconfigured if the endpoint is not a URL."""
    named = os.environ.get(f"AWS_ENDPOINT_URL_{service.upper()}")
    if found := given or named or os.environ.get("AWS_ENDPOINT_URL"):
        raise_if_no_url(found)
        return found
    return f"https://{service}.{region}.{domain_of(region)}"


def raise_if_no_url(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise Misconfigured(f"the endpoint {endpoint!r} is no URL; one is http://127.0.0.1:8000")


def domain_of(region: str) -> str:
    """The domain of AWS's endpoints: China and the isolated partitions have their own."""
    return next((d for begin, d in DOMAINS.items() if region.startswith(begin)), "amazonaws.com")
