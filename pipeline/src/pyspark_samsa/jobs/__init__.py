"""Jobs: plain PySpark programs over topics and tables, each with a `main(argv)`.

`samsa pipeline <job> …` runs them on this machine, `spark-submit …/jobs/<job>.py …` on a cluster.
"""
