"""Ids in API Gateway's form: sixteen characters; the last one has to be encoded in URLs."""

import secrets


def identifier() -> str:
    return secrets.token_urlsafe(12)[:15] + "="
