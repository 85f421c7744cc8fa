"""A discrete-event simulation of Samsa on AWS's limits. See ../README.md and docs/scale.md."""
