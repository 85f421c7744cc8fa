# Generated from describe_client_quotas.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ComponentData(Row):
    entity_type: str
    match_type: int
    match: str | None
    def __init__(
        self,
        *,
        entity_type: str = ...,
        match_type: int = ...,
        match: str | None = ...,
    ) -> None: ...

class DescribeClientQuotasRequest(Row):
    components: list[ComponentData]
    strict: bool
    def __init__(
        self,
        *,
        components: list[ComponentData] = ...,
        strict: bool = ...,
    ) -> None: ...

class EntityData(Row):
    entity_type: str
    entity_name: str | None
    def __init__(
        self,
        *,
        entity_type: str = ...,
        entity_name: str | None = ...,
    ) -> None: ...

class ValueData(Row):
    key: str
    value: float
    def __init__(
        self,
        *,
        key: str = ...,
        value: float = ...,
    ) -> None: ...

class EntryData(Row):
    entity: list[EntityData]
    values: list[ValueData]
    def __init__(
        self,
        *,
        entity: list[EntityData] = ...,
        values: list[ValueData] = ...,
    ) -> None: ...

class DescribeClientQuotasResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: list[EntryData] | None
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        entries: list[EntryData] | None = ...,
    ) -> None: ...

COMPONENT: StructOf[ComponentData]
REQUEST: MessageOf[DescribeClientQuotasRequest]
ENTITY: StructOf[EntityData]
VALUE: StructOf[ValueData]
ENTRY: StructOf[EntryData]
RESPONSE: MessageOf[DescribeClientQuotasResponse]
