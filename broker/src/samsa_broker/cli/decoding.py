"""Records of `samsa consume --schema`: values and keys as JSON, by the schemas that they name."""

import json
import sys

from samsa.records.record import Record
from samsa.schemas.errors import BadValue, NotFramed
from samsa.schemas.framing import unframed

from .client import ClientError
from .registry_client import RegistryClient


class Decoding:
    def __init__(self, client: RegistryClient) -> None:
        self._client = client

    def text(self, data: bytes | None, what: str) -> str | None:
        """JSON; None for what has no schema. What cannot be decoded is said on standard error."""
        if data is None:
            return None
        try:
            schema_id, value = unframed(data)
            told = self._client.schema(schema_id).decode(value)
        except NotFramed:
            return None
        except (BadValue, ClientError) as error:
            print(f"samsa: {what} is not decoded: {error}", file=sys.stderr)
            return None
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))

    def of(self, record: Record) -> tuple[str | None, str | None]:
        """The key and the value."""
        at = f"of the record at offset {record.offset}"
        return self.text(record.key, f"the key {at}"), self.text(record.value, f"the value {at}")
