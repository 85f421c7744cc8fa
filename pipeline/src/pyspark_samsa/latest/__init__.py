"""Upserts: a stream of changes becomes a table with the latest row of every key.

The sequence decides which of two changes is newer, not the time of arrival: if changes come late,
out of order or twice, the table is the same. So a micro-batch may be written again, wholly or in
part: this is what makes it *exactly once*. For the same reason deletions are remembered, beside the
table: a change that is older than a deletion is ignored.
"""
