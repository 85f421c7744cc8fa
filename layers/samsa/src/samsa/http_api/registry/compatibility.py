"""`/compatibility`: whether a schema could be registered."""

from typing import Any

from samsa.security.kinds import Operation

from .calls import Call


async def with_version(call: Call) -> dict[str, Any]:
    return await _checked(call, call.version)


async def with_subject(call: Call) -> dict[str, Any]:
    """With the versions that the subject's level names."""
    return await _checked(call, None)


async def _checked(call: Call, version: int | None) -> dict[str, Any]:
    call.needs(Operation.READ)
    found = await call.registry.problems(call.subject, version, await call.draft())
    if call.flag("verbose"):
        return {"is_compatible": not found, "messages": found}
    return {"is_compatible": not found}
