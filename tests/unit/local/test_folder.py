import asyncio
from pathlib import Path

from support.descriptors import open_below

from samsa.local.drafts import READY, REFILL_AFTER_S
from samsa.local.files import INLINE_BYTES
from samsa.local.folder import FolderObjects


async def test_drafts_are_ready_before_they_are_needed(tmp_path: Path):
    objects = FolderObjects(str(tmp_path))
    await objects.put_if_absent("a", [b"small"])
    await asyncio.sleep(20 * REFILL_AFTER_S)
    assert len(open_below(tmp_path)) == READY
    await objects.close()


async def test_a_folder_that_is_closed_opens_no_more_drafts(tmp_path: Path):
    objects = FolderObjects(str(tmp_path))
    await objects.put_if_absent("a", [b"small"])
    await objects.close()
    await asyncio.sleep(20 * REFILL_AFTER_S)
    assert open_below(tmp_path) == []


async def test_a_put_that_ends_when_its_folder_is_closed_opens_no_more_drafts(tmp_path: Path):
    objects = FolderObjects(str(tmp_path))
    put = asyncio.create_task(objects.put_if_absent("a", [bytes(INLINE_BYTES + 1)]))
    await asyncio.sleep(0)  # it has begun, in a thread
    await objects.close()
    assert await put
    await asyncio.sleep(20 * REFILL_AFTER_S)
    assert open_below(tmp_path) == []
