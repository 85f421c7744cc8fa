"""Upserts: a stream of changes becomes a table with the latest row of every key.

A change is newer than another by its sequence, not by when it came: whatever is late, out of order
or comes twice, the table is the same. So a micro-batch may be written again, wholly or in part, and
that is all there is to *exactly once* here. For the same reason deletions are remembered, beside
the table: what is older than a deletion stays away.
"""
