# Generated from alter_client_quotas.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class EntityData(Row):
    entity_type: str
    entity_name: str | None
    def __init__(
        self,
        *,
        entity_type: str = ...,
        entity_name: str | None = ...,
    ) -> None: ...

class OpData(Row):
    key: str
    value: float
    remove: bool
    def __init__(
        self,
        *,
        key: str = ...,
        value: float = ...,
        remove: bool = ...,
    ) -> None: ...

class EntryData(Row):
    entity: list[EntityData]
    ops: list[OpData]
    def __init__(
        self,
        *,
        entity: list[EntityData] = ...,
        ops: list[OpData] = ...,
    ) -> None: ...

class AlterClientQuotasRequest(Row):
    entries: list[EntryData]
    validate_only: bool
    def __init__(
        self,
        *,
        entries: list[EntryData] = ...,
        validate_only: bool = ...,
    ) -> None: ...

class EntityDataResponse(Row):
    entity_type: str
    entity_name: str | None
    def __init__(
        self,
        *,
        entity_type: str = ...,
        entity_name: str | None = ...,
    ) -> None: ...

class EntryDataResponse(Row):
    error_code: int
    error_message: str | None
    entity: list[EntityDataResponse]
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        entity: list[EntityDataResponse] = ...,
    ) -> None: ...

class AlterClientQuotasResponse(Row):
    throttle_time_ms: int
    entries: list[EntryDataResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        entries: list[EntryDataResponse] = ...,
    ) -> None: ...

ENTITY: StructOf[EntityData]
OP: StructOf[OpData]
ENTRY: StructOf[EntryData]
REQUEST: MessageOf[AlterClientQuotasRequest]
ENTITY_RESPONSE: StructOf[EntityDataResponse]
ENTRY_RESPONSE: StructOf[EntryDataResponse]
RESPONSE: MessageOf[AlterClientQuotasResponse]
