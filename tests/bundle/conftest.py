from bundle.gateway_fixtures import cluster, environment, stores

__all__ = ["cluster", "environment", "stores"]
