"""Message tables, one module per API, to be read beside Kafka's protocol page."""
