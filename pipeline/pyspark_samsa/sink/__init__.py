"""Writing rows to topics, once each.

Executors make record batches of the rows they are given and stage them as objects, where nobody
looks (`staging.py`). Nothing is visible until Spark commits: then the driver fixes by a write-once
plan what the turn consists of, and appends it to the log as an idempotent producer (`publish.py`).
Whoever commits the same turn again, after a restart or beside us, finds the plan and goes on with
it, so it does not matter whether the rows come in the same order the second time. Decision 24 says
why.
"""
