"""The AWS SAM command line, in an environment of its own: its pins do not agree with moto's."""

import os
from functools import cache as once
from pathlib import Path

from support.builds import environment_with

ROOT = Path(__file__).parents[2]
SAM = "aws-sam-cli==1.170.0"


@once
def sam_folder() -> Path:
    """The folder with `sam` and `cfn-lint` in it, made once and kept."""
    return environment_with(SAM)


def sam_environment(**variables: str) -> dict[str, str]:
    """To run it in without an account and without telling anybody."""
    return {
        "HOME": os.environ["HOME"],
        "AWS_DEFAULT_REGION": "eu-central-1",
        "SAM_CLI_TELEMETRY": "0",
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        **variables,
    }
