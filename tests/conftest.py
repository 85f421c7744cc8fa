from support.stores import (
    aws_environment,
    environment,
    local_dynamodb,
    moto,
    stores,
    versity,
)

__all__ = ["aws_environment", "environment", "local_dynamodb", "moto", "stores", "versity"]
