"""Names as API Gateway makes them: sixteen characters, the last of which URLs must encode."""

import secrets


def identifier() -> str:
    return secrets.token_urlsafe(12)[:15] + "="
