"""Objects in S3, through obstore. A conditional put writes a key at most once.

S3 answers a put with `If-None-Match: *` in one of three ways: 200, stored; 412, the key exists;
409, another put or delete of the key was under way, and the outcome is unknown. obstore raises the
same exception for the last two, so after either we check whether the object exists. We also check
if the store closed the connection: S3 may send 412 before it has received all of a large body, and
then the answer is lost.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager

from obstore.exceptions import AlreadyExistsError, BaseError, GenericError

from samsa.aws.s3_store import open_store
from samsa.ports import Buffer, Misconfigured, Missing, Piece, Unavailable

UPLOAD_BYTES = 8 * 1024 * 1024
UPLOADS = 4
PAST_THE_END = "416 Range Not Satisfiable"
HUNG_UP = "kind: Interrupted"
NO_BUCKET = "no such bucket"


class S3Objects:
    """`timeout_s` limits one request, with its body. No retry begins after that time."""

    remote = True

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        endpoint: str | None = None,
        region: str | None = None,
        timeout_s: float = 6.0,
    ) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self._store = open_store(bucket, prefix, endpoint, region, timeout_s)

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        self.calls["put"] += 1
        # A copy, unless it is one bytes object already: a caller that is cancelled may reuse its
        # buffers while the request goes on.
        body = b"".join(parts)
        try:
            with named_errors(key):
                await self._store.put_async(key, body, mode="create")
        except AlreadyExistsError as error:
            if not await self._exists(key):
                raise Unavailable(f"S3 {key}: conflict") from error
            return False
        except Unavailable as error:
            if HUNG_UP not in str(error.__cause__) or not await self._exists(key):
                raise
            return False
        return True

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        """A multipart upload, in parallel. Readers see nothing before the last part is done."""
        self.calls["put"] += 1
        with named_errors(key):
            await self._store.put_async(
                key, parts, chunk_size=UPLOAD_BYTES, max_concurrency=UPLOADS
            )

    async def _exists(self, key: str) -> bool:
        try:
            with named_errors(key):
                await self._store.head_async(key)
        except Missing:
            return False
        return True

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        self.calls["get"] += 1
        with named_errors(key):
            try:
                return await self._get(key, start, length)
            except GenericError as error:
                if PAST_THE_END in str(error):
                    return b""
                raise

    async def _get(self, key: str, start: int, length: int | None) -> Buffer:
        if length is None and start == 0:
            return memoryview(await (await self._store.get_async(key)).bytes_async())
        if length is None:
            rest = await self._store.get_async(key, options={"range": {"offset": start}})
            return memoryview(await rest.bytes_async())
        # obstore refuses an empty range, even of an object that does not exist.
        asked = max(length, 1)
        return memoryview(await self._store.get_range_async(key, start=start, length=asked))[
            :length
        ]

    async def piece(self, key: str, start: int, length: int) -> Piece:
        return await self.get(key, start, length)

    async def delete(self, keys: Sequence[str]) -> None:
        self.calls["delete"] += 1
        if not keys:
            return
        with named_errors(f"{keys[0]}, …"):
            await self._store.delete_async(keys)

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        self.calls["list"] += 1
        # obstore lists only whole folders.
        folder = prefix.rpartition("/")[0]
        with named_errors(prefix):
            async for page in self._store.list(folder):
                for entry in page:
                    key = entry["path"]
                    if below is not None and key >= below:
                        return
                    if key.startswith(prefix):
                        yield key

    async def close(self) -> None:
        pass


@contextmanager
def named_errors(what: str) -> Iterator[None]:
    try:
        yield
    except AlreadyExistsError:
        raise
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise Misconfigured(f"S3 {what}: {NO_BUCKET}") from error
        raise Missing(what) from error
    except (BaseError, OSError) as error:
        raise Unavailable(f"S3 {what}: {str(error).splitlines()[0]}") from error
