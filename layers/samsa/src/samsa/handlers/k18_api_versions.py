"""ApiVersions (key 18).

Behaviour: lists all that we speak; each has a handler. A version that we do not know is answered at
version 0 with UNSUPPORTED_VERSION and the same list: the client can come back with one that we
know.
"""

from typing import Any

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.api_versions import API_VERSION, RESPONSE

from .broker import Broker, Context, handles


@handles(ApiKey.API_VERSIONS)
async def api_versions(request: Any, context: Context, broker: Broker) -> Any:
    return RESPONSE(api_keys=_served())


def unsupported_version() -> Any:
    return RESPONSE(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_served())


def _served() -> list[Any]:
    return [
        API_VERSION(
            api_key=key,
            min_version=APIS[key].versions.start,
            max_version=APIS[key].versions.stop - 1,
        )
        for key in sorted(APIS)
    ]
