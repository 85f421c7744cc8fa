"""What logins with passwords are checked against: stored credentials, and stand-ins for others."""

import logging
from typing import TYPE_CHECKING

from samsa.ports import Unavailable

from .contents import ChangePlan, Contents
from .entries import secret_entry
from .view import SecurityView

if TYPE_CHECKING:
    from samsa.security.scram import ScramCredential, ScramMechanism

log = logging.getLogger("samsa.access")


class StoredLogins:
    def __init__(self, view: SecurityView, secret: bytes) -> None:
        """The secret is random. It is used for as long as none is stored."""
        self._view = view
        self._secret = secret

    def credential_of(self, user: str, mechanism: "ScramMechanism") -> "ScramCredential | None":
        return self._view.credential(mechanism, user)

    def stand_in_of(self, user: str, sasl_name: str) -> "ScramCredential":
        from samsa.security.stand_ins import stand_in

        contents = self._view.contents
        secret = contents.stand_in_secret or self._secret
        return stand_in(user, sasl_name, contents.shapes, secret)


async def store_secret(view: SecurityView, secret: bytes) -> None:
    """Unless one is stored. Without one, stand-ins of each process have other salts: a process that
    may only read does without."""

    async def plan(contents: Contents) -> ChangePlan[None]:
        is_there = contents.stand_in_secret is not None
        return ChangePlan(None, () if is_there else (secret_entry(secret),))

    try:
        await view.change(plan)
    except Unavailable as error:
        log.info("the secret of made-up salts cannot be stored: %s", error)
