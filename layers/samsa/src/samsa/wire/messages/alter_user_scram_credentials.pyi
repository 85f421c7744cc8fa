# Generated from alter_user_scram_credentials.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ScramCredentialDeletion(Row):
    name: str
    mechanism: int
    def __init__(
        self,
        *,
        name: str = ...,
        mechanism: int = ...,
    ) -> None: ...

class ScramCredentialUpsertion(Row):
    name: str
    mechanism: int
    iterations: int
    salt: bytes | memoryview
    salted_password: bytes | memoryview
    def __init__(
        self,
        *,
        name: str = ...,
        mechanism: int = ...,
        iterations: int = ...,
        salt: bytes | memoryview = ...,
        salted_password: bytes | memoryview = ...,
    ) -> None: ...

class AlterUserScramCredentialsRequest(Row):
    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]
    def __init__(
        self,
        *,
        deletions: list[ScramCredentialDeletion] = ...,
        upsertions: list[ScramCredentialUpsertion] = ...,
    ) -> None: ...

class AlterUserScramCredentialsResult(Row):
    user: str
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        user: str = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class AlterUserScramCredentialsResponse(Row):
    throttle_time_ms: int
    results: list[AlterUserScramCredentialsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[AlterUserScramCredentialsResult] = ...,
    ) -> None: ...

DELETION: StructOf[ScramCredentialDeletion]
UPSERTION: StructOf[ScramCredentialUpsertion]
REQUEST: MessageOf[AlterUserScramCredentialsRequest]
RESULT: StructOf[AlterUserScramCredentialsResult]
RESPONSE: MessageOf[AlterUserScramCredentialsResponse]
