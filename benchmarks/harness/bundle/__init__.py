"""What the bundle's section works with: the chain, slow stores, producers, cold starts."""
