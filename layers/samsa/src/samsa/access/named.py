"""The access of clients that have logged in, where there are no ACLs."""

from samsa.security.access import Unlimited
from samsa.security.principals import Principal


class NamedClient(Unlimited):
    def __init__(self, principal: Principal) -> None:
        self.principal = principal
