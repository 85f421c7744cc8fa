"""The AWS SAM command line, in an environment of its own: its pins do not agree with moto's."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sam_environment(**variables: str) -> dict[str, str]:
    """To run it in without an account and without telling anybody."""
    return {
        "HOME": os.environ["HOME"],
        "AWS_DEFAULT_REGION": "eu-central-1",
        "SAM_CLI_TELEMETRY": "0",
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        **variables,
    }
