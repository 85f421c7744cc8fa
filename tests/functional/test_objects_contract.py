"""What every object store promises in `ports`."""

from collections.abc import AsyncIterator

import pytest

from samsa.ports import FileRange, Missing, Objects, Piece, Unavailable

KEY = "log/6c1f0f3e-2a51-4a3c-9d5e-000000000000/0/00000000000000000000"
WORDS = b"As Gregor Samsa awoke one morning"


def content(piece: Piece) -> bytes:
    return piece.read() if isinstance(piece, FileRange) else bytes(piece)


async def keys(objects: Objects, prefix: str, below: str | None = None) -> list[str]:
    return [key async for key in objects.list(prefix, below)]


async def test_the_parts_of_a_put_are_joined(objects: Objects):
    parts = [b"As ", bytearray(b"Gregor "), b"", memoryview(b"the Samsa awoke")[4:]]
    assert await objects.put_if_absent(KEY, parts)
    assert bytes(await objects.get(KEY)) == b"As Gregor Samsa awoke"


async def test_a_put_of_very_many_parts_is_whole(objects: Objects):
    parts = [bytes([number % 256]) * 7 for number in range(3000)]
    assert await objects.put_if_absent(KEY, parts)
    assert bytes(await objects.get(KEY)) == b"".join(parts)


async def test_a_large_object_is_one_object(objects: Objects):
    body = bytes(range(256)) * 4096 * 12
    assert await objects.put_if_absent(KEY, [memoryview(body)[:100], memoryview(body)[100:]])
    assert bytes(await objects.get(KEY)) == body
    assert not await objects.put_if_absent(KEY, [body])


async def test_an_object_may_be_empty(objects: Objects):
    assert await objects.put_if_absent(KEY, [])
    assert bytes(await objects.get(KEY)) == b""
    assert not await objects.put_if_absent(KEY, [WORDS])


async def test_an_object_is_written_once(objects: Objects):
    assert await objects.put_if_absent(KEY, [WORDS])
    assert not await objects.put_if_absent(KEY, [b"something else"])
    assert not await objects.put_if_absent(KEY, [WORDS])
    assert bytes(await objects.get(KEY)) == WORDS


async def test_what_was_put_does_not_change_with_the_buffer_it_came_from(objects: Objects):
    buffer = bytearray(WORDS)
    await objects.put_if_absent(KEY, [buffer])
    buffer[:] = bytes(len(WORDS))
    assert bytes(await objects.get(KEY)) == WORDS


@pytest.mark.parametrize(
    ("start", "length", "found"),
    [
        (0, None, WORDS),
        (3, None, WORDS[3:]),
        (0, 2, b"As"),
        (3, 6, b"Gregor"),
        (26, 7, b"morning"),
        (26, 99, b"morning"),
        (33, 5, b""),
        (33, None, b""),
        (99, 5, b""),
        (3, 0, b""),
    ],
)
async def test_a_range_is_what_there_is_of_it(
    objects: Objects, start: int, length: int | None, found: bytes
):
    await objects.put_if_absent(KEY, [WORDS])
    assert bytes(await objects.get(KEY, start, length)) == found


@pytest.mark.parametrize(
    ("start", "length", "found"), [(0, 33, WORDS), (3, 6, b"Gregor"), (26, 99, b"morning")]
)
async def test_a_piece_has_the_length_of_what_it_holds(
    objects: Objects, start: int, length: int, found: bytes
):
    await objects.put_if_absent(KEY, [WORDS])
    piece = await objects.piece(KEY, start, length)
    assert len(piece) == len(found)
    assert content(piece) == found


async def test_a_piece_outlives_the_deletion_of_its_object(objects: Objects):
    await objects.put_if_absent(KEY, [WORDS])
    piece = await objects.piece(KEY, 3, 6)
    await objects.delete([KEY])
    assert content(piece) == b"Gregor"


async def test_what_is_not_there_is_missing(objects: Objects):
    await objects.put_if_absent(KEY, [WORDS])
    for absent in ("log/other", f"{KEY}0", KEY[:-1]):
        with pytest.raises(Missing):
            await objects.get(absent)
        with pytest.raises(Missing):
            await objects.get(absent, 1, 0)
        with pytest.raises(Missing):
            await objects.piece(absent, 0, 1)


async def test_a_deleted_object_is_missing_and_its_key_free(objects: Objects):
    await objects.put_if_absent(KEY, [WORDS])
    await objects.delete([KEY])
    with pytest.raises(Missing):
        await objects.get(KEY)
    assert await objects.put_if_absent(KEY, [b"again"])
    assert bytes(await objects.get(KEY)) == b"again"


async def test_deleting_what_is_not_there_is_no_error(objects: Objects):
    await objects.put_if_absent("log/a/0/1", [WORDS])
    await objects.delete([])
    await objects.delete(["log/b/0/1"])
    await objects.delete(["log/a/0/2", "log/a/0/1", "log/a/0/1", "other"])
    assert await keys(objects, "log/") == []


async def test_many_objects_are_deleted_and_no_others(objects: Objects):
    every = [f"log/a/0/{number:020d}" for number in range(70)]
    for key in every:
        await objects.put_if_absent(key, [b"x"])
    await objects.delete(every[5:])
    assert await keys(objects, "log/a/0/") == every[:5]


async def test_keys_are_listed_in_order_below_a_key(objects: Objects):
    every = [f"log/a/0/{number:020d}" for number in (0, 1, 9, 10, 100, 12345678901234567890)]
    for key in reversed(every):
        await objects.put_if_absent(key, [b"x"])
    assert await keys(objects, "log/a/0/") == every
    assert await keys(objects, "log/a/0/", below=every[3]) == every[:3]
    assert await keys(objects, "log/a/0/", below=f"{every[3]}0") == every[:4]
    assert await keys(objects, "log/a/0/", below=every[0]) == []


async def test_only_keys_under_the_prefix_are_listed(objects: Objects):
    for key in ("log/a/1/0", "log/a/1/1", "log/a/10/0", "log/b/1/0", "other/1", "log/a/0/0"):
        await objects.put_if_absent(key, [b"x"])
    assert await keys(objects, "log/a/1/") == ["log/a/1/0", "log/a/1/1"]
    assert await keys(objects, "log/a/") == ["log/a/0/0", "log/a/1/0", "log/a/1/1", "log/a/10/0"]
    assert await keys(objects, "log/c/") == []
    assert len(await keys(objects, "")) == 6


async def test_more_keys_than_one_page_are_listed(objects: Objects):
    every = [f"log/a/0/{number:020d}" for number in range(120)]
    for key in every:
        await objects.put_if_absent(key, [b"x"])
    assert await keys(objects, "log/a/") == every


async def test_calls_are_counted(objects: Objects):
    await objects.put_if_absent(KEY, [WORDS])
    await objects.get(KEY)
    await objects.piece(KEY, 0, 1)
    await objects.delete([KEY])
    await keys(objects, "log/")
    assert objects.calls == {"put": 1, "get": 2, "delete": 1, "list": 1}


async def in_parts(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize("sizes", [[1], [5, 0, 7], [3_000_000, 9_000_000, 100]])
async def test_a_stream_is_stored_in_one_piece(objects: Objects, sizes: list[int]):
    parts = [bytes([65 + number]) * size for number, size in enumerate(sizes)]
    await objects.put_stream("log/stream", in_parts(parts))
    assert bytes(await objects.get("log/stream")) == b"".join(parts)
    assert [key async for key in objects.list("log/")] == ["log/stream"]


async def test_a_stream_that_breaks_off_leaves_nothing(objects: Objects):
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 100
        raise Unavailable("the source is gone")

    with pytest.raises(Unavailable):
        await objects.put_stream("log/stream", broken())
    with pytest.raises(Missing):
        await objects.get("log/stream")
    assert [key async for key in objects.list("")] == []


async def test_a_stream_may_be_stored_again(objects: Objects):
    for _ in range(2):
        await objects.put_stream("log/stream", in_parts([b"same", b"bytes"]))
    assert bytes(await objects.get("log/stream")) == b"samebytes"
