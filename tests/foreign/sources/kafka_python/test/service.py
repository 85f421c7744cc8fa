"""What the sdist leaves out and its fixtures import: the processes behind a broker.

Here the broker runs already, so there are none.
"""


class ExternalService:
    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port


class SpawnedService:
    def __init__(self, *_args: object) -> None:
        raise RuntimeError("a broker of its own was asked for, where KAFKA_URI names one that runs")
