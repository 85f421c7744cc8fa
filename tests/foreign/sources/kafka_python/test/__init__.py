"""The sdist leaves this file out, and then `test` is Python's own package of that name."""
