-- Gold: what people ask about. How fast the trucks are; gold.py has where they are.
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
