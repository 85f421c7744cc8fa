"""A driver to be killed: copies a topic in small micro-batches. Run as a program."""

import sys

from pipeline.conftest import SHORT_LIVED

from pyspark_samsa.session import local_session


def main(ledger: str, objects: str, source: str, target: str, checkpoint: str) -> None:
    spark = local_session("copying", 1, SHORT_LIVED)
    stores = {"ledger": ledger, "objects": objects}
    read = {"subscribe": source, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "20"}
    rows = spark.readStream.format("samsa").options(**stores, **read).load()
    query = (
        rows.selectExpr("value")
        .writeStream.format("samsa")
        .options(**stores, topic=target, checkpointLocation=checkpoint)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
