# Generated from describe_user_scram_credentials.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class UserName(Row):
    name: str
    def __init__(
        self,
        *,
        name: str = ...,
    ) -> None: ...

class DescribeUserScramCredentialsRequest(Row):
    users: list[UserName] | None
    def __init__(
        self,
        *,
        users: list[UserName] | None = ...,
    ) -> None: ...

class CredentialInfo(Row):
    mechanism: int
    iterations: int
    def __init__(
        self,
        *,
        mechanism: int = ...,
        iterations: int = ...,
    ) -> None: ...

class DescribeUserScramCredentialsResult(Row):
    user: str
    error_code: int
    error_message: str | None
    credential_infos: list[CredentialInfo]
    def __init__(
        self,
        *,
        user: str = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        credential_infos: list[CredentialInfo] = ...,
    ) -> None: ...

class DescribeUserScramCredentialsResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        results: list[DescribeUserScramCredentialsResult] = ...,
    ) -> None: ...

USER: StructOf[UserName]
REQUEST: MessageOf[DescribeUserScramCredentialsRequest]
CREDENTIAL: StructOf[CredentialInfo]
RESULT: StructOf[DescribeUserScramCredentialsResult]
RESPONSE: MessageOf[DescribeUserScramCredentialsResponse]
