"""Which micro-batch of which query a task belongs to."""

from pyspark import TaskContext

from .errors import SamsaError

QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
"""What Spark tells the tasks of a micro-batch. The query's id is kept in its checkpoint."""


def query_and_batch() -> tuple[str, int]:
    context = TaskContext.get()
    query = context and context.getLocalProperty(QUERY)
    batch = context and context.getLocalProperty(BATCH)
    if not query or not batch:
        raise SamsaError("Spark does not say which query this is, and which batch")
    return query, int(batch)
