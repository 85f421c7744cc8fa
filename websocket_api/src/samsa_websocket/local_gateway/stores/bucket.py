"""Objects in a folder, as a bucket of S3. Everything here blocks: it is called in threads.

An object is written into a draft, and gets its name when it is whole. A key is checked before it
becomes a path, so that none leads out of the folder.
"""

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .refusals import S3Refused

LONGEST_KEY, LONGEST_NAME = 1024, 255
NAME = re.compile(r"[^\x00-\x1f\x7f/]+")
SPILLED = "spill"
KEPT_S = 24 * 3600
"""Spilled requests and responses, and uploads that were not finished, as in template.yaml."""
COPY_BYTES = 1024 * 1024
MOST_PARTS = 10_000
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")


class Stored(NamedTuple):
    key: str
    size: int
    modified: float


class Bucket:
    """`objects/` has the objects, `drafts/` what is not finished yet."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError."""
        self._objects = folder / "objects"
        self._drafts = folder / "drafts"
        self._objects.mkdir(parents=True, exist_ok=True)
        # No other process writes here: drafts are of a process that has ended.
        shutil.rmtree(self._drafts, ignore_errors=True)
        self._drafts.mkdir()

    def path_of(self, key: str) -> Path:
        """Raises S3Refused."""
        names = key.split("/")
        if len(key.encode(errors="replace")) > LONGEST_KEY or not all(map(_is_name, names)):
            raise S3Refused(400, "InvalidArgument", "no such key can be stored in a folder")
        return self._objects.joinpath(*names)

    def draft(self, name: str) -> Path:
        return self._drafts / name

    def publish(self, draft: Path, key: str, *, only_new: bool) -> None:
        """Give a draft its name. Raises S3Refused if only a new one is wanted, and it exists."""
        path = self.path_of(key)
        try:
            self._link(draft, path, only_new)
        except FileExistsError:
            raise S3Refused(412, "PreconditionFailed", "the key exists") from None
        except (NotADirectoryError, IsADirectoryError):
            raise S3Refused(409, "OperationAborted", "the key is a folder of others") from None

    def _link(self, draft: Path, path: Path, only_new: bool) -> None:
        for _ in range(3):
            path.parent.mkdir(parents=True, exist_ok=True)
            # A delete may just have removed the folder, which was empty: then make it again.
            with suppress(FileNotFoundError):
                if only_new:
                    os.link(draft, path)
                else:
                    os.replace(draft, path)
                return
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    def open(self, key: str) -> tuple[int, int]:
        """A descriptor, and the size. Raises S3Refused."""
        try:
            fd = os.open(self.path_of(key), os.O_RDONLY | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            raise S3Refused(404, "NoSuchKey", "The specified key does not exist.") from None
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            os.close(fd)
            raise S3Refused(404, "NoSuchKey", "The specified key does not exist.")
        return fd, found.st_size

    def delete(self, key: str) -> None:
        path = self.path_of(key)
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            path.unlink()
        for folder in path.parents:
            if folder == self._objects:
                return
            try:
                folder.rmdir()
            except OSError:
                return

    def list(self, prefix: str, after: str, most: int) -> list[Stored]:
        """The first keys behind `after` that begin with the prefix, in order."""
        found: list[Stored] = []
        folder = prefix.rpartition("/")[0]
        top = self.path_of(folder) if folder else self._objects
        for stored in _walk(top, folder):
            if stored.key > after and stored.key.startswith(prefix):
                found.append(stored)
                if len(found) == most:
                    break
        return found

    # Uploads in parts

    def begin_upload(self, upload_id: str) -> None:
        (self._drafts / upload_id).mkdir()

    def part(self, upload_id: str, number: int) -> Path:
        """Raises S3Refused."""
        if not 1 <= number <= MOST_PARTS:
            raise S3Refused(400, "InvalidArgument", f"a part has a number from 1 to {MOST_PARTS}")
        return self._upload(upload_id) / str(number)

    def _upload(self, upload_id: str) -> Path:
        folder = self._drafts / upload_id
        if not UPLOAD_ID.fullmatch(upload_id) or not folder.is_dir():
            raise S3Refused(404, "NoSuchUpload", "The specified upload does not exist.")
        return folder

    def finish_upload(self, upload_id: str, key: str, *, only_new: bool) -> None:
        folder = self._upload(upload_id)
        parts = sorted((part for part in folder.iterdir() if part.name.isdigit()), key=_number)
        whole = folder / "whole"
        with whole.open("wb") as target:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, target, COPY_BYTES)
                part.unlink()
        self.publish(whole, key, only_new=only_new)
        self.abort_upload(upload_id)

    def abort_upload(self, upload_id: str) -> None:
        shutil.rmtree(self._upload(upload_id), ignore_errors=True)

    def forget_old(self) -> int:
        """Remove what was spilled more than a day ago, and uploads that were not finished."""
        oldest, removed = time.time() - KEPT_S, 0
        for stored in _walk(self._objects / SPILLED, SPILLED):
            if stored.modified < oldest:
                self.delete(stored.key)
                removed += 1
        for draft in self._drafts.iterdir():
            with suppress(OSError):
                if draft.is_dir() and draft.stat().st_mtime < oldest:
                    shutil.rmtree(draft)
        return removed


def _is_name(name: str) -> bool:
    short = len(name.encode(errors="replace")) <= LONGEST_NAME
    return short and name not in (".", "..") and NAME.fullmatch(name) is not None


def _in_order(entry: "os.DirEntry[str]") -> str:
    return f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name


def _number(part: Path) -> int:
    return int(part.name)


def _walk(folder: Path, key: str) -> Iterator[Stored]:
    """In the order of keys, in which a folder's name ends with a slash."""
    try:
        entries = sorted(os.scandir(folder), key=_in_order)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        name = f"{key}/{entry.name}" if key else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), name)
            continue
        with suppress(FileNotFoundError):
            found = entry.stat(follow_symlinks=False)
            yield Stored(name, found.st_size, found.st_mtime)
