"""A Spark that is too old for the formats: it says so, and its other formats are not harmed."""

import subprocess
import sys

import pytest

from pyspark_samsa.release import is_new_enough

# In a process of its own: the modules are imported as that release of Spark would do it.
OLD = """
import pyspark.sql.datasource
pyspark.__version__ = "4.0.2"
del pyspark.sql.datasource.DataSourceStreamArrowWriter
import pyspark_samsa, pyspark_samsa_latest
for package in (pyspark_samsa, pyspark_samsa_latest):
    format = package.DefaultSource
    assert issubclass(format, pyspark.sql.datasource.DataSource)
    try:
        format({})
    except pyspark_samsa.errors.SamsaError as error:
        print(format.name(), error)
"""


@pytest.mark.parametrize(
    ("version", "enough"),
    [("4.0.0", False), ("4.1.4", False), ("3.5.9", False), ("4.2.0", True), ("4.10.0", True),
     ("4.3.0.dev1", True), ("5.0.0", True)],
)  # fmt: skip
def test_spark_4_2_is_the_first_that_is_new_enough(version: str, enough: bool):
    assert is_new_enough(version) == enough


def test_a_format_in_a_spark_that_is_too_old_is_a_sentence():
    done = subprocess.run([sys.executable, "-c", OLD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = "Samsa needs Spark 4.2 or newer, and this is 4.0.2"
    assert done.stdout.splitlines() == [f"samsa {said}", f"samsa_latest {said}"]
