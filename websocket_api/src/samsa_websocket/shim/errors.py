"""What can go wrong between a client and the cluster."""


class ShimError(Exception):
    """Its text is for the administrator of the shim."""


class ClientRefused(ShimError):
    """The cluster refuses the shim, or does not exist: trying again will not help."""


class Away(ShimError):
    """The cluster cannot be reached now."""


class FateUnknown(Exception):
    """A request was sent and not answered: it may have been carried out."""


class NothingDone(Exception):
    """A request was not carried out, and may be sent again."""


class HangUp(Exception):
    """The client's connection must be closed, for this reason."""
