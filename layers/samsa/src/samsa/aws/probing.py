"""Checks once, at start, that the table and the bucket exist and can be used.

Each check takes at most `WITHIN_S`, changes nothing, and needs no permission that a broker does not
need: it reads one item and one object, which need not exist. An error is one sentence that says
what is missing, and the next step.
"""

import asyncio
from typing import NamedTuple

from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

from samsa.aws.client import Patience
from samsa.aws.credentials import Credentials, endpoint_or, region_or
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.errors import BadRequest
from samsa.aws.items import key
from samsa.aws.s3 import NO_BUCKET, S3Objects
from samsa.ports import Misconfigured, Missing, Unavailable

WITHIN_S = 5.0
PATIENCE = Patience(connect_s=2.0, read_s=WITHIN_S, tries=2)
NO_TABLE = "ResourceNotFoundException"
PROBE = "samsa-probe"


class StoreAddress(NamedTuple):
    """A table, or a bucket and a folder in it."""

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None


async def probe_table(place: StoreAddress) -> None:
    """Raises Misconfigured, with the next step."""
    region = region_or(place.region, place.endpoint)
    where = endpoint_or(place.endpoint, "dynamodb", region)
    await _have_credentials()
    ledger = DynamoLedger(place.name, place.endpoint, region, patience=PATIENCE)
    try:
        async with asyncio.timeout(WITHIN_S):
            await ledger.table.get(key(PROBE, PROBE))
    except Misconfigured as error:
        if NO_TABLE not in str(error):
            raise _refused(str(error), f"table {place.name!r}") from error
        if place.endpoint is None:  # a local DynamoDB starts empty: its table is created
            raise Misconfigured(
                f"there is no DynamoDB table {place.name!r} in {region}. Deploy it (make deploy), "
                "or give the URL of the stack's output `Ledger`"
            ) from error
    except BadRequest as error:
        raise Misconfigured(f"what answers at {where} is no DynamoDB: {error}") from error
    except (Unavailable, TimeoutError) as error:
        raise _absent("DynamoDB", where, error) from error
    finally:
        await ledger.close()


async def probe_bucket(place: StoreAddress) -> None:
    """Raises Misconfigured, with the next step."""
    where = endpoint_or(place.endpoint, "s3", region_or(place.region, place.endpoint))
    await _have_credentials()
    objects = S3Objects(place.name, place.prefix, place.endpoint, place.region, WITHIN_S)
    try:
        async with asyncio.timeout(WITHIN_S):
            await objects.get(PROBE)
    except Missing:
        return
    except (Unavailable, TimeoutError) as error:
        raise _why_no_bucket(place, where, error) from error


async def _have_credentials() -> None:
    """Checked before the stores: without any, S3's client would slowly look for them on EC2."""
    try:
        await Credentials().keys()
    except Misconfigured:
        raise
    except Unavailable as error:  # a wrong profile, an expired session
        raise Misconfigured(f"{error}. Set AWS_PROFILE or AWS_ACCESS_KEY_ID") from error


def _why_no_bucket(place: StoreAddress, where: str, error: Exception) -> Misconfigured:
    if NO_BUCKET in str(error):
        return Misconfigured(
            f"there is no bucket {place.name!r} at {where}. Make it "
            f"(aws s3 mb s3://{place.name} --endpoint-url {where}), or name another"
        )
    if isinstance(error.__cause__, PermissionDeniedError | UnauthenticatedError):
        return _refused(str(error).rpartition(" - ")[2], f"bucket {place.name!r}")
    return _absent("S3", where, error)


def _refused(why: str, what: str) -> Misconfigured:
    return Misconfigured(
        f"these AWS credentials may not use the {what}: {why}. "
        "Set AWS_PROFILE or AWS_ACCESS_KEY_ID to others, or let them read and write it"
    )


def _absent(service: str, where: str, error: Exception) -> Misconfigured:
    # Before the dash is what obstore was doing, and how often.
    why = str(error).rpartition(" - ")[2] or f"no answer within {WITHIN_S:g} s"
    return Misconfigured(
        f"no {service} answers at {where} ({why}). Start one there, or say where it is "
        "with endpoint=… and region=… in the URL"
    )
