"""Two `samsa up` on the same stores."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from server.process import Samsa, a_samsa
from support.stores import BUCKET

Pair = tuple[Samsa, Samsa]
UPKEEP = ("--upkeep-interval", "3", "--settle-time", "3")
"""So that merges, too, happen within a history."""


@contextmanager
def on_one_folder(folder: Path) -> Iterator[Pair]:
    with pair(folder, "--data", str(folder / "data")) as both:
        yield both


@contextmanager
def on_dynamodb_and_s3(folder: Path, dynamodb: str, s3: str) -> Iterator[Pair]:
    name = f"histories-{uuid4()}"
    ledger = f"dynamodb://{name}?region=us-east-1&endpoint={dynamodb}"
    objects = f"s3://{BUCKET}/{name}?region=us-east-1&endpoint={s3}"
    with pair(folder, "--ledger", ledger, "--objects", objects) as both:
        yield both


@contextmanager
def pair(folder: Path, *options: str) -> Iterator[Pair]:
    with (
        a_samsa(folder / "process-0", *options, *UPKEEP) as one,
        a_samsa(folder / "process-1", *options, *UPKEEP) as other,
    ):
        yield one, other
