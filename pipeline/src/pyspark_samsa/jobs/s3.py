"""What Spark needs for folders in S3: Hadoop's own client of it, in the release that Spark has."""

from collections.abc import Iterable, Mapping

PACKAGE = "org.apache.hadoop:hadoop-aws:3.5.0"
"""With the SDK of AWS it is some 600 MB, fetched once."""
SCHEMES = "s3://", "s3a://"
JARS, PACKAGES = "spark.jars", "spark.jars.packages"

S3_CONF = {
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    # Keys of the environment, of a profile, or of the machine: as `samsa up` finds them.
    "spark.hadoop.fs.s3a.aws.credentials.provider": (
        "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
    ),
}


def are_in_s3(folders: Iterable[str | None]) -> bool:
    return any(folder.startswith(SCHEMES) for folder in folders if folder)


def s3_conf(conf: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Settings with those for S3; the user's own go before. A user who names jars has to include
    Hadoop's."""
    found = {**S3_CONF, **conf}
    if not {JARS, PACKAGES} & chosen.keys():
        found[PACKAGES] = ",".join(filter(None, (conf.get(PACKAGES), PACKAGE)))
    return found
