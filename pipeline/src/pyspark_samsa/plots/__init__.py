"""A page of plots: figures that Spark counts, drawings of them, and the page around."""
