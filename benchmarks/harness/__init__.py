"""What side_by_side.py is made of: two brokers, the clients that load them, and one table."""
