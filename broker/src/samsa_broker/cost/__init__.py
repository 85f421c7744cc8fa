"""What a month costs on AWS: Samsa as functions and as processes, MSK Serverless, Kafka on EC2.

    load = Load(messages_per_second=100, size=1_000)
    functions(load, prices).total

Pure: prices are handed in (`prices.toml` is read by the command). A table (`acts.py`) has the calls
that each request makes to AWS; tests compare it with real requests.
"""

from .bill import Bill, Line
from .compare import BILLS, break_evens
from .load import Load
from .of_functions import functions
from .of_kafka import kafka
from .of_msk import msk
from .of_processes import processes
from .prices import BadPrices, Prices

__all__ = [
    "BILLS",
    "BadPrices",
    "Bill",
    "Line",
    "Load",
    "Prices",
    "break_evens",
    "functions",
    "kafka",
    "msk",
    "processes",
]
