"""The check of the stores, before `samsa up` and `samsa local-api` report that they are ready."""

from .store_urls import parse


async def check_stores(ledger_url: str, objects_url: str) -> None:
    """Raises BadUrl; Misconfigured, if a table or a bucket is missing. Local stores are created, so
    they are not checked. URLs without a name are refused when they are opened."""
    for url in (ledger_url, objects_url):
        parts, query = parse(url, "region", "endpoint")
        if parts.scheme not in ("dynamodb", "s3") or not parts.netloc:
            continue
        from samsa.aws.probing import StoreAddress, probe_bucket, probe_table

        probe = probe_table if parts.scheme == "dynamodb" else probe_bucket
        prefix = parts.path.strip("/")
        await probe(StoreAddress(parts.netloc, prefix, query.get("endpoint"), query.get("region")))
