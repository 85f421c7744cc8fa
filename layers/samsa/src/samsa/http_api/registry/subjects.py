"""`/subjects`: register, look up, list and delete."""

from typing import Any

from starlette.responses import Response

from samsa.schemas.contents import Content, Registered, SchemaKind
from samsa.security.kinds import Operation

from .answers import text_of
from .calls import Call
from .refusals import no_such_subject

MOST_SUBJECTS = 20_000


async def subjects(call: Call) -> list[str]:
    call.needs(Operation.READ)
    state = await call.registry.log.caught_up()
    prefix = call.text("subjectPrefix")
    deleted, only = call.flag("deleted"), call.flag("deletedOnly")
    found = []
    async for name in call.kafka.broker.work.pace(sorted(state.subjects)):
        is_alive = any(not each.deleted for each in state.subjects.get(name, {}).values())
        is_wanted = not is_alive if only else is_alive or deleted
        if is_wanted and name.startswith(prefix):
            found.append(name)
    return found[call.window(MOST_SUBJECTS)]


async def look_up(call: Call) -> dict[str, Any]:
    call.needs(Operation.READ)
    draft = await call.draft()
    return told(await call.registry.found(call.subject, draft, call.flag("deleted")))


async def register(call: Call) -> dict[str, int]:
    call.needs(Operation.WRITE)
    return {"id": await call.registry.register(call.subject, await call.draft())}


async def versions(call: Call) -> list[int]:
    call.needs(Operation.READ)
    state = await call.registry.log.caught_up()
    found = state.versions(call.subject, call.flag("deleted") or call.flag("deletedOnly"))
    if not found:
        raise no_such_subject(call.subject)
    only = call.flag("deletedOnly")
    return [each.version for each in found if each.deleted or not only][call.window(MOST_SUBJECTS)]


async def version(call: Call) -> dict[str, Any]:
    return told(await _found(call), await text_of(call, (await _found(call)).content))


async def schema(call: Call) -> Response:
    """The schema alone."""
    content = (await _found(call)).content
    return as_text(content, await text_of(call, content))


async def referenced_by(call: Call) -> list[int]:
    found = await _found(call)
    return call.registry.log.state.referrers(found.subject, found.version)


async def delete(call: Call) -> list[int]:
    call.needs(Operation.WRITE)
    return await call.registry.delete_subject(call.subject, call.flag("permanent"))


async def delete_version(call: Call) -> int:
    call.needs(Operation.WRITE)
    permanent = call.flag("permanent")
    return await call.registry.delete_version(call.subject, call.version, permanent)


async def _found(call: Call) -> Registered:
    call.needs(Operation.READ)
    subject, number = call.subject, call.version
    state = await call.registry.log.caught_up()
    return call.registry.version(state, subject, number, call.flag("deleted"))


def told(found: Registered, text: str | None = None) -> dict[str, Any]:
    """As the API shows a version."""
    told = {"subject": found.subject, "version": found.version, "id": found.id}
    return {**told, **shown(found.content, text)}


def shown(content: Content, text: str | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if content.kind is not SchemaKind.AVRO:
        told["schemaType"] = content.kind.value
    if content.references:
        told["references"] = [each._asdict() for each in content.references]
    return {**told, "schema": content.text if text is None else text}


def as_text(content: Content, text: str) -> Response:
    """JSON as it is, and a .proto file as a text of JSON."""
    if content.kind is SchemaKind.PROTOBUF:
        return Response(text, media_type="text/plain; charset=utf-8")
    return Response(text, media_type="application/json")
