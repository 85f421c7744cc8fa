"""An exhaustive model of the one-commit protocol and of transactions. See ../README.md."""
