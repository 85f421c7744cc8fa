"""`/config` and `/mode`: how compatible versions have to be, and what is allowed."""

from typing import Any

from samsa.schemas import log_records
from samsa.schemas.compatibility import Level
from samsa.schemas.state import SchemaState
from samsa.security.kinds import Operation

from .calls import Call
from .refusals import (
    bad_request,
    invalid_level,
    invalid_mode,
    no_own_level,
    no_own_mode,
    not_permitted,
)
from .schema_log import Plan
from .service import ALL, IMPORT, MODES, level_for, mode_of


async def level(call: Call) -> dict[str, Any]:
    return _config(await _read(call), ALL)


async def level_of_subject(call: Call) -> dict[str, Any]:
    state, subject = await _read(call), call.subject
    has_own = subject in state.levels or subject in state.normalized
    if not has_own and not call.flag("defaultToGlobal"):
        raise no_own_level(subject)
    return _config(state, subject)


def _config(state: SchemaState, subject: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"compatibilityLevel": level_for(state, subject).value}
    if subject in state.normalized:
        found["normalize"] = state.normalized[subject]
    return found


async def set_level(call: Call) -> dict[str, Any]:
    return await _set_level(call, ALL)


async def set_level_of_subject(call: Call) -> dict[str, Any]:
    return await _set_level(call, call.subject)


async def _set_level(call: Call, subject: str | None) -> dict[str, Any]:
    call.needs(Operation.ALTER_CONFIGS)
    told = await call.body()
    given, normalize = told.get("compatibility"), told.get("normalize")
    known = {"compatibility", "normalize"}
    more = [name for name in told if name not in known and told[name] is not None]
    if more:
        raise bad_request(f"{more[0]} is not supported")
    if given is not None and str(given).upper() not in Level.__members__:
        raise invalid_level(given)
    if (given is None and normalize is None) or not isinstance(normalize, bool | None):
        raise invalid_level(given)
    wanted = None if given is None else str(given).upper()

    async def planned(state: SchemaState) -> Plan[None]:
        level = wanted or state.levels.get(subject)
        normal = state.normalized.get(subject) if normalize is None else normalize
        return Plan(None, [log_records.of_config(subject, level, normal)])

    await call.registry.log.change(planned)
    answer = {} if wanted is None else {"compatibility": wanted}
    return answer if normalize is None else {**answer, "normalize": normalize}


async def delete_level(call: Call) -> dict[str, Any]:
    return await _delete_level(call, ALL)


async def delete_level_of_subject(call: Call) -> dict[str, Any]:
    return await _delete_level(call, call.subject)


async def _delete_level(call: Call, subject: str | None) -> dict[str, Any]:
    call.needs(Operation.ALTER_CONFIGS)

    async def planned(state: SchemaState) -> Plan[dict[str, Any]]:
        has_own = subject in state.levels or subject in state.normalized
        if subject is not None and not has_own:
            raise no_own_level(subject)
        records = [log_records.of_config(subject, None, None)] if has_own else []
        return Plan(_config(state, subject), records)

    return await call.registry.log.change(planned)


async def mode(call: Call) -> dict[str, str]:
    return {"mode": mode_of(await _read(call), ALL)}


async def mode_of_subject(call: Call) -> dict[str, str]:
    state, subject = await _read(call), call.subject
    if subject not in state.modes and not call.flag("defaultToGlobal"):
        raise no_own_mode(subject)
    return {"mode": mode_of(state, subject)}


async def set_mode(call: Call) -> dict[str, str]:
    return await _set_mode(call, ALL)


async def set_mode_of_subject(call: Call) -> dict[str, str]:
    return await _set_mode(call, call.subject)


async def _set_mode(call: Call, subject: str | None) -> dict[str, str]:
    call.needs(Operation.ALTER_CONFIGS)
    given = (await call.body()).get("mode")
    if given not in MODES:
        raise invalid_mode(given)

    async def planned(state: SchemaState) -> Plan[None]:
        has_any = state.subjects if subject is None else state.versions(subject)
        if given == IMPORT and has_any and not call.flag("force"):
            where = "subjects exist" if subject is None else f"subject {subject} has versions"
            raise not_permitted(f"Cannot import since found existing {where}; use force=true")
        return Plan(None, [log_records.of_mode(subject, str(given))])

    await call.registry.log.change(planned)
    return {"mode": str(given)}


async def delete_mode_of_subject(call: Call) -> dict[str, str]:
    call.needs(Operation.ALTER_CONFIGS)
    subject = call.subject

    async def planned(state: SchemaState) -> Plan[dict[str, str]]:
        if subject not in state.modes:
            raise no_own_mode(subject)
        return Plan({"mode": state.modes[subject]}, [log_records.of_mode(subject, None)])

    return await call.registry.log.change(planned)


async def _read(call: Call) -> SchemaState:
    call.needs(Operation.DESCRIBE_CONFIGS)
    return await call.registry.log.caught_up()
