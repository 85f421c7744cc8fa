"""Setting quotas, and saying whether a client is muted."""

import select

from server.peer import Peer

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_client_quotas as alter


def ask_for_quotas(
    peer: Peer, entity: dict[str, str | None], **limits: float | None
) -> tuple[int, str | None]:
    """None removes a limit."""
    entry = alter.ENTRY(
        entity=[alter.ENTITY(entity_type=k, entity_name=name) for k, name in entity.items()],
        ops=[
            alter.OP(key=key, value=value or 0.0, remove=value is None)
            for key, value in limits.items()
        ],
    )
    row = alter.REQUEST(entries=[entry])
    told = peer.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, row).entries[0]
    return told.error_code, told.error_message


def set_quotas(peer: Peer, entity: dict[str, str | None], **limits: float | None) -> None:
    assert ask_for_quotas(peer, entity, **limits) == (ErrorCode.NONE, None)


def is_silent(peer: Peer, seconds: float = 0.5) -> bool:
    """Whether nothing comes from the broker for so long."""
    return not select.select([peer.socket], [], [], seconds)[0]
