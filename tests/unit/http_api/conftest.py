from unit.http_api.given import api, site

__all__ = ["api", "site"]
