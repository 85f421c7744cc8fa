# Generated from sasl_handshake.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class SaslHandshakeRequest(Row):
    mechanism: str
    def __init__(
        self,
        *,
        mechanism: str = ...,
    ) -> None: ...

class SaslHandshakeResponse(Row):
    error_code: int
    mechanisms: list[str]
    def __init__(
        self,
        *,
        error_code: int = ...,
        mechanisms: list[str] = ...,
    ) -> None: ...

NEVER: int
REQUEST: MessageOf[SaslHandshakeRequest]
RESPONSE: MessageOf[SaslHandshakeResponse]
