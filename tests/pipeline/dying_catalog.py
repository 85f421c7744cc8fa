"""An Iceberg catalog in SQLite whose process dies once: just before its first commit, or after it.

Loaded by PyIceberg under this name (`py-catalog-impl`), in the process in which Spark commits.
"""

import os
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

BEFORE, AFTER = "before", "after"


class DyingCatalog(SqlCatalog):
    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        died = Path(self.properties["died"])
        makes_snapshot = any(update.action == "add-snapshot" for update in updates)
        if died.exists() or not makes_snapshot:
            return super().commit_table(table, requirements, updates)
        died.touch()
        if self.properties["dies"] == AFTER:
            super().commit_table(table, requirements, updates)
        os._exit(1)
