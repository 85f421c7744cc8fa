"""Who a client is, what it may do and how fast. Pure: no I/O, no clock, no asyncio."""
