-- Gold: what people ask about. How fast the trucks are, and where.
--
-- In SQL, because a watermark on a table of the pipeline cannot be said in Python: there it wants
-- the table's columns at once, before the pipeline has put its tables in order.

-- A position may be ten minutes late and still count; a window is told when these have passed.
CREATE STREAMING TABLE gold_speeds COMMENT 'Positions and speed per truck and window' AS
SELECT
  window.start AS window_start,
  window.end AS window_end,
  truck_id,
  count(*) AS positions,
  avg(speed_kmh) AS average_speed_kmh,
  max(speed_kmh) AS top_speed_kmh
FROM STREAM silver_positions WATERMARK event_timestamp DELAY OF INTERVAL 10 MINUTES
GROUP BY window(event_timestamp, '5 minutes'), truck_id;

-- The topic read as a changelog: the newest position of each truck, and none of those that left.
-- Newest is by the truck's clock, since some positions are late; a departure has only the record's.
CREATE MATERIALIZED VIEW gold_latest_positions COMMENT 'Where each truck was last' AS
WITH changes AS (
  SELECT
    truck_id,
    struct(event_timestamp AS at, offset) AS place,
    struct(event_timestamp, latitude, longitude, speed_kmh, heading) AS last
  FROM silver_positions
  UNION ALL
  SELECT cast(key AS STRING), struct(timestamp, offset), NULL FROM bronze_trucks WHERE value IS NULL
)
SELECT truck_id, last.* FROM (
  SELECT truck_id, max_by(last, place) AS last FROM changes GROUP BY truck_id
)
WHERE last IS NOT NULL;
