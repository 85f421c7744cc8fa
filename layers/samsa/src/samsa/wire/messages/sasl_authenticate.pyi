# Generated from sasl_authenticate.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class SaslAuthenticateRequest(Row):
    auth_bytes: bytes | memoryview
    def __init__(
        self,
        *,
        auth_bytes: bytes | memoryview = ...,
    ) -> None: ...

class SaslAuthenticateResponse(Row):
    error_code: int
    error_message: str | None
    auth_bytes: bytes | memoryview
    session_lifetime_ms: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        auth_bytes: bytes | memoryview = ...,
        session_lifetime_ms: int = ...,
    ) -> None: ...

REQUEST: MessageOf[SaslAuthenticateRequest]
RESPONSE: MessageOf[SaslAuthenticateResponse]
