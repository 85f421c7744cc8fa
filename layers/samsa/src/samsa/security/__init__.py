"""Who a client is and what it may do. Pure: no I/O, no clock, no asyncio."""
