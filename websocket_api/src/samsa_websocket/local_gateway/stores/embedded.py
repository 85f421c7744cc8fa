"""The stores of a local gateway that is given none: a folder with a SQLite file and objects.

    DIR/table.db        the table (DynamoDB)
    DIR/objects/…       the objects (S3)
    DIR/drafts/…        what is not finished yet
    DIR/lock            held by the process that uses them

They are served on the gateway's own port: the table by `POST /`, the objects under
`/samsa-objects`.
Every request to them is signed by a key that only the functions have (`store_keys.py`).
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from starlette.routing import BaseRoute, Route

from samsa.aws.sigv4 import Keys

from .bucket import Bucket
from .dynamodb_api import DynamoApi
from .meter import Meter
from .s3_api import S3Api, Transferred
from .store_keys import StoreKeys

TABLE, BUCKET, REGION = "samsa", "samsa-objects", "us-east-1"
TABLE_FILE = "table.db"
LEDGER_FILE = "ledger.db"
UPKEEP_S = 60.0


class StoresUnusable(Exception):
    """Says why, and what to do."""


class EmbeddedStores:
    def __init__(
        self, folder: Path, transferred: Transferred = lambda _method, _size: None
    ) -> None:
        """Raises StoresUnusable."""
        self.folder = folder
        self.keys = StoreKeys()
        self.meter = Meter()
        try:
            self._lock = _locked(folder)
        except OSError as error:
            raise _unusable(folder, error.strerror or str(error)) from error
        try:
            self.table = DynamoApi(folder / TABLE_FILE, self.keys, self.meter)
            bucket = Bucket(folder)
        except (OSError, sqlite3.Error) as error:
            os.close(self._lock)
            raise _unusable(folder, getattr(error, "strerror", None) or str(error)) from error
        self._bucket = bucket
        self.objects = S3Api(bucket, BUCKET, self.keys, self.meter, transferred)

    def routes(self) -> list[BaseRoute]:
        methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
        return [
            Route(f"/{BUCKET}", self.objects.serve, methods=methods),
            Route(f"/{BUCKET}/{{key:path}}", self.objects.serve, methods=methods),
        ]

    def environment(self, origin: str) -> dict[str, str]:
        """What functions are told of them."""
        where = f"region={REGION}&endpoint={origin}"
        return {
            "SAMSA_LEDGER": f"dynamodb://{TABLE}?{where}",
            "SAMSA_OBJECTS": f"s3://{BUCKET}?{where}",
        }

    def issue(self) -> Keys:
        """The keys of a new environment. What they sign is counted."""
        keys = self.keys.issue()
        self.meter.watch(keys.access_key)
        return keys

    async def open(self) -> None:
        """Raises StoresUnusable."""
        try:
            await self.table.create_table(TABLE)
        except sqlite3.Error as error:
            raise _unusable(self.folder, str(error)) from error

    async def tend(self) -> None:
        """Remove what has expired, for ever: on AWS, DynamoDB's TTL and S3's lifecycle do it."""
        while True:
            await self.table.forget_expired()
            try:
                await asyncio.to_thread(self._bucket.forget_old)
            except OSError as error:
                self.objects.failed(error)
            await asyncio.sleep(UPKEEP_S)

    def close(self) -> None:
        self.table.close()
        os.close(self._lock)


def credentials(keys: Keys) -> Mapping[str, str]:
    """The environment variables of one environment of a function."""
    return {
        "AWS_ACCESS_KEY_ID": keys.access_key,
        "AWS_SECRET_ACCESS_KEY": keys.secret_key,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _locked(folder: Path) -> int:
    """Raises OSError, StoresUnusable."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / LEDGER_FILE).exists():
        raise StoresUnusable(
            f"{folder} holds the ledger of a samsa up, which functions cannot use: "
            "name another folder with --data"
        )
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise StoresUnusable(
            f"another samsa local-api or demo uses {folder}: end it, or name another folder "
            "with --data"
        ) from None
    return fd


def _unusable(folder: Path, why: str) -> StoresUnusable:
    return StoresUnusable(
        f"cannot store anything in {folder}: {why}. Name another folder with --data"
    )
