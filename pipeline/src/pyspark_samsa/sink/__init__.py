"""Writes rows to topics, exactly once.

Executors make record batches of their rows and stage them as objects outside of the log
(`staging.py`). Nothing is visible until Spark commits: then the driver fixes by a write-once plan
what the turn consists of, and appends it to the log as an idempotent producer (`publish.py`). If
the same turn is committed again, after a restart or by another process, the plan is found and
carried out, so it does not matter whether the rows come in the same order the second time.
Decision 24 says why.
"""
