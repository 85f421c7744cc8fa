"""Before anything else of a request is read: who sends it. A refusal ends the connection, as in
Kafka."""

from starlette.types import ASGIApp, Receive, Scope, Send

from samsa.ports import Unavailable
from samsa.wire.errors import ErrorCode

from .guard import CLOSE
from .problems import UNAVAILABLE, answer, of_http, of_kafka
from .sessions import SESSION, Login, TooManyLogins, Unauthorized


class LoginFirst:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        login: Login = scope["app"].state.login
        try:
            scope[SESSION] = await login.session(scope)
        except Unauthorized as error:
            await _refusal(error)(scope, receive, send)
        except TooManyLogins as error:
            busy = of_http(UNAVAILABLE, "Too many logins", str(error), "Ask again soon.")
            await answer(busy, CLOSE)(scope, receive, send)
        except Unavailable as error:
            # As `failures.py` answers it behind the login.
            problem = of_kafka(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            await answer(problem)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(error: Unauthorized) -> ASGIApp:
    next_step = "Log in as a user of this cluster, or with a token, as WWW-Authenticate says."
    response = answer(of_http(401, "Not logged in", str(error), next_step), CLOSE)
    for challenge in error.challenges:
        response.headers.append("WWW-Authenticate", challenge)
    return response
