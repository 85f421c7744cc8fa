"""Errors of the coordinator. They have Kafka's names, by which handlers map them to error codes."""

from enum import Enum


class TransactionError(Enum):
    INVALID_REQUEST = "the request contradicts itself, or the transaction would be too large"
    INVALID_TXN_STATE = "the transaction is in a state in which this cannot be done"
    INVALID_PRODUCER_ID_MAPPING = "the transactional id has another producer id"
    INVALID_TRANSACTION_TIMEOUT = "the timeout is not positive, or longer than allowed"
    CONCURRENT_TRANSACTIONS = "the end of the last transaction is not finished yet"
    PRODUCER_FENCED = "the epoch is not the current one: there is a newer producer"
    TRANSACTIONAL_ID_NOT_FOUND = "no such transactional id"
    TRANSACTION_ABORTABLE = "this was not added to the transaction: abort it and begin again"
