"""The principal of a request behind API Gateway: the IAM identity that has signed it.

API Gateway has checked the signature, and names the signer and its address in the event. An event
without them is refused: nothing that IAM has not authorised is to come this way.
"""

from collections.abc import MutableMapping
from typing import Any

from samsa.broker.broker import Broker
from samsa.runtime.audit import Audit
from samsa.runtime.audited_changes import tell_changes_of
from samsa.security.aws_principals import principal_of_arn

from .sessions import Session, Unauthorized

NOBODY = "no IAM identity that is known here has signed this request"


class IamLogin:
    """A `Login`. The broker has access control."""

    def __init__(self, broker: Broker, audit: Audit) -> None:
        self._broker = broker
        self._audit = audit

    async def session(self, scope: MutableMapping[str, Any]) -> Session:
        try:
            context = scope["aws.event"]["requestContext"]
            host = str(context["http"]["sourceIp"])
            principal = principal_of_arn(str(context["authorizer"]["iam"]["userArn"]))
        except (KeyError, TypeError, ValueError) as error:
            raise Unauthorized(NOBODY) from error
        assert self._broker.access is not None
        await self._broker.access.refresh_in_function()

        def on_answer(key: int, row: Any, answer: Any) -> None:
            tell_changes_of(self._audit, key, lambda: row, answer, principal, host)

        access = self._broker.access_for(principal, host)
        return Session(access, f"/{host}", on_answer)
