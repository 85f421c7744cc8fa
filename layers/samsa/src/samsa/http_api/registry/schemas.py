"""`/schemas`: by id, and all of them."""

import json
from collections.abc import Generator, Iterable
from typing import Any

from starlette.responses import Response

from samsa.schemas.contents import Registered
from samsa.security.kinds import Operation

from .answers import MEDIA_TYPE, text_of
from .calls import Call
from .refusals import no_such_schema
from .subjects import as_text, shown, told


async def types(call: Call) -> list[str]:
    call.needs(Operation.READ)
    return ["JSON", "PROTOBUF", "AVRO"]


async def by_id(call: Call) -> dict[str, Any]:
    call.needs(Operation.READ)
    content = await call.registry.by_id(call.id)
    found = shown(content, await text_of(call, content))
    if call.flag("fetchMaxId"):
        found["maxId"] = (await call.registry.log.caught_up()).greatest_id
    return found


async def text_by_id(call: Call) -> Response:
    call.needs(Operation.READ)
    content = await call.registry.by_id(call.id)
    return as_text(content, await text_of(call, content))


async def subjects_of(call: Call) -> list[str]:
    return sorted({each.subject for each in await _with_id(call)})


async def versions_of(call: Call) -> list[dict[str, Any]]:
    found = await _with_id(call)
    return [{"subject": each.subject, "version": each.version} for each in found]


async def _with_id(call: Call) -> list[Registered]:
    call.needs(Operation.READ)
    state = await call.registry.log.caught_up()
    if state.schema(call.id) is None:
        raise no_such_schema(call.id)
    found = state.with_id(call.id, call.flag("deleted"))
    wanted = call.text("subject")
    return [each for each in found if not wanted or each.subject == wanted]


async def everything(call: Call) -> Response:
    """All versions of all subjects, in their order."""
    call.needs(Operation.READ)
    work = call.kafka.broker.work
    state = await call.registry.log.caught_up()
    prefix, deleted, latest = (
        call.text("subjectPrefix"),
        call.flag("deleted"),
        call.flag("latestOnly"),
    )
    found: list[Registered] = []
    async for name in work.pace(sorted(state.subjects)):
        if name.startswith(prefix):
            versions = state.versions(name, deleted)
            found += versions[-1:] if latest else versions
    body = await work.in_slices(_told(found[call.window()]))
    return Response(body, media_type=MEDIA_TYPE)


def _told(found: Iterable[Registered]) -> Generator[None, None, bytes]:
    rows = []
    for each in found:
        rows.append(json.dumps(told(each)))
        yield
    return f"[{','.join(rows)}]".encode()


async def contexts(call: Call) -> list[str]:
    call.needs(Operation.READ)
    return ["."]
