"""The check of the stores, before `samsa up` and `samsa local-api` report that they are ready."""

from .store_address import read_store_url


async def check_stores(ledger_url: str, objects_url: str) -> None:
    """Raises BadUrl; Misconfigured, if a table or a bucket is missing. Local stores are created, so
    they are not checked. URLs without a name are refused when they are opened."""
    for store in map(read_store_url, (ledger_url, objects_url)):
        if store.scheme not in ("dynamodb", "s3") or not store.name:
            continue
        from samsa.aws.probing import StoreAddress, probe_bucket, probe_table

        probe = probe_table if store.scheme == "dynamodb" else probe_bucket
        await probe(StoreAddress(store.name, store.prefix, store.endpoint, store.region))
