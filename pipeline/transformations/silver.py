"""Silver: every record is a position that can be trusted, or a dead letter that says why not.

Values are JSON, or Avro that names its schema (see `samsa_broker.demo.position`); those without any
are trucks that left, and concern gold only. Dead letters go to a topic of their own, as they came,
with the reason and where they are from in their headers, so that they can be mended.
"""

import pyarrow as pa
from pyspark import pipelines as dp
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

spark = SparkSession.active()
DEAD_LETTERS = spark.conf.get("spark.samsa.trucks.deadLetters")

FIELDS = {
    "truck_id": "STRING",
    "event_timestamp": "TIMESTAMP",
    "latitude": "DOUBLE",
    "longitude": "DOUBLE",
    "speed_kmh": "DOUBLE",
    "heading": "DOUBLE",
}
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in FIELDS.items())
RANGES = {
    "latitude": (-90, 90),
    "longitude": (-180, 180),
    "speed_kmh": (0, 250),
    "heading": (0, 360),
}
RECORD = ("key", "value", "topic", "partition", "offset", "timestamp")
AVRO = b"\xc3\x01"
"""How a value begins that is Avro."""


@f.arrow_udf(f"{SCHEMA}, reason STRING")
def from_single_objects(values: pa.Array) -> pa.Array:
    """Avro to fields, or to the reason why not; all are null where a value is not Avro."""
    from io import BytesIO

    import pyarrow as pa
    from fastavro import parse_schema, schemaless_reader

    from samsa_broker.demo.position import HEAD, SCHEMA

    schema = parse_schema(SCHEMA)
    kinds = {"string": pa.string(), "double": pa.float64()}
    moment = pa.timestamp("us", "UTC")
    fields = [(field["name"], kinds.get(str(field["type"]), moment)) for field in SCHEMA["fields"]]

    def read(value: bytes | None) -> dict[str, object]:
        if value is None or not value.startswith(HEAD[:2]):
            return {}
        if not value.startswith(HEAD):
            return {"reason": f"the schema {value[2:10].hex()} is not known"}
        body = BytesIO(value[len(HEAD) :])
        try:
            found: dict[str, object] = schemaless_reader(body, schema, None)
        except EOFError:
            return {"reason": "it ends before its schema does"}
        except (ValueError, OverflowError, IndexError) as error:
            return {"reason": f"it is not Avro of its schema: {error}"}
        return {"reason": "it goes on after its schema ends"} if body.read(1) else found

    kind = pa.struct([*fields, ("reason", pa.string())])
    return pa.array(map(read, values.to_pylist()), kind)


def why_not(text: Column, parsed: Column, avro: Column, is_avro: Column) -> Column:
    """The first thing that is wrong with a record, or null."""
    checks = [f.when(is_avro, avro.reason)]
    checks += [f.when(~is_avro & f.get_json_object(text, "$").isNull(), "it is not JSON")]
    for name, kind in FIELDS.items():
        given = f.get_json_object(text, f"$.{name}")
        wrong = f.concat(f.lit(f"{name} is not a {kind}: "), given)
        checks.append(f.when(parsed[name].isNull() & given.isNotNull() & ~is_avro, wrong))
        checks.append(f.when(parsed[name].isNull(), f"{name} is missing"))
    for name, (least, most) in RANGES.items():
        given = parsed[name].cast("string")
        outside = f.concat(f.lit(f"{name} is not from {least} to {most}: "), given)
        checks.append(f.when(~parsed[name].between(least, most), outside))
    key = f.col("key").cast("string")
    checks.append(f.when(~key.eqNullSafe(parsed.truck_id), "truck_id is not the key"))
    return f.coalesce(*checks)


def parsed_trucks() -> DataFrame:
    # By select and where alone: withColumn looks at the table as it is when the pipeline is
    # defined, and then Spark does not know that this waits for bronze.
    is_avro = f.coalesce(f.substring("value", 1, 2) == f.lit(AVRO), f.lit(False))
    text = f.col("value").cast("string")
    json = f.from_json(f.when(~is_avro, text), SCHEMA)
    fields = [
        f.when(is_avro, f.col("avro")[name]).otherwise(f.col("json")[name]).alias(name)
        for name in FIELDS
    ]
    reason = why_not(text, f.col("parsed"), f.col("avro"), is_avro)
    return (
        spark.readStream.table("bronze_trucks")
        .where("value IS NOT NULL")
        .select(*RECORD, from_single_objects("value").alias("avro"), json.alias("json"))
        .select(*RECORD, "avro", f.struct(*fields).alias("parsed"))
        .select(*RECORD, "parsed", reason.alias("reason"))
    )


@dp.table(name="silver_positions", comment="Positions that could be read")
def silver_positions() -> DataFrame:
    return (
        parsed_trucks()
        .where("reason IS NULL")
        .select("parsed.*", "partition", "offset", f.col("timestamp").alias("sent_timestamp"))
    )


dp.create_sink("dead_letters", "samsa", {"topic": DEAD_LETTERS})


@dp.append_flow(target="dead_letters", name="dead_letters")
def dead_letters() -> DataFrame:
    def header(name: str, value: Column) -> Column:
        return f.struct(
            f.lit(name).alias("key"), value.cast("string").cast("binary").alias("value")
        )

    origin = [header(name, f.col(name)) for name in ("reason", "topic", "partition", "offset")]
    return (
        parsed_trucks()
        .where("reason IS NOT NULL")
        .select("key", "value", f.array(*origin).alias("headers"))
    )
