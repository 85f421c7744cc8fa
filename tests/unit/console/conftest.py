from unit.console.given import api, site

__all__ = ["api", "site"]
