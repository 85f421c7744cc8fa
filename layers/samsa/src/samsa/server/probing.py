"""What `samsa up` and `samsa local-api` ask before they say that they are ready."""

from .urls import parse


async def check_stores(ledger_url: str, objects_url: str) -> None:
    """Raises BadUrl, and Misconfigured: a table or a bucket is missing. Local stores are made, and
    URLs without a name are explained when they are opened."""
    for url in (ledger_url, objects_url):
        parts, query = parse(url, "region", "endpoint")
        if parts.scheme not in ("dynamodb", "s3") or not parts.netloc:
            continue
        from samsa.aws.probing import Place, probe_bucket, probe_table

        probe = probe_table if parts.scheme == "dynamodb" else probe_bucket
        prefix = parts.path.strip("/")
        await probe(Place(parts.netloc, prefix, query.get("endpoint"), query.get("region")))
