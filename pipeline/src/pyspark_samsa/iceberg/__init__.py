"""Iceberg tables, to which a stream appends: by PyIceberg and its catalogs, without a jar.

Executors write data files. The driver appends them, and how far the query has come, in one commit:
so a micro-batch that Spark repeats is found to be there already. Decision 43 has the reasons.
"""
