"""Errors of the coordinator. They have Kafka's names, by which handlers map them to error codes."""

from enum import Enum


class GroupError(Enum):
    COORDINATOR_NOT_AVAILABLE = "the group cannot be served now"
    ILLEGAL_GENERATION = "the generation is not the current one"
    INCONSISTENT_GROUP_PROTOCOL = "no protocol is common to all members"
    UNKNOWN_MEMBER_ID = "no such member"
    INVALID_SESSION_TIMEOUT = "the session timeout is outside the limits"
    REBALANCE_IN_PROGRESS = "the member must join again"
    INVALID_REQUEST = "the request contradicts itself"
    NON_EMPTY_GROUP = "the group has members"
    GROUP_ID_NOT_FOUND = "no such group of this kind"
    MEMBER_ID_REQUIRED = "join again with this member id"
    GROUP_MAX_SIZE_REACHED = "the group is full"
    FENCED_INSTANCE_ID = "another member has this instance id"
    GROUP_SUBSCRIBED_TO_TOPIC = "the group still reads this topic"
    FENCED_MEMBER_EPOCH = "the member must join afresh"
    UNRELEASED_INSTANCE_ID = "the instance id is still in use"
    UNSUPPORTED_ASSIGNOR = "no such assignor"
    STALE_MEMBER_EPOCH = "the member epoch is not the current one"
    INVALID_REGULAR_EXPRESSION = "the pattern cannot be compiled"
