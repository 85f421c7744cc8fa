"""What of the samples a client may see: as the handlers would have shown it."""

from samsa.http_api.kafka_client import KafkaClient
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import is_visible, may_quietly

from .totals import GroupTotals


def sees_process(kafka: KafkaClient) -> bool:
    """Figures of the whole process: for those who may describe the cluster."""
    return may_quietly(kafka.session.access, Operation.DESCRIBE)


def sees_topic(kafka: KafkaClient, name: str) -> bool:
    return is_visible(kafka.session.access, Operation.DESCRIBE, ResourceType.TOPIC, name)


def sees_group(kafka: KafkaClient, name: str) -> bool:
    """As ListGroups."""
    access = kafka.session.access
    return sees_process(kafka) or is_visible(access, Operation.DESCRIBE, ResourceType.GROUP, name)


def sees_lag(kafka: KafkaClient, totals: GroupTotals) -> bool:
    """The sum over all topics of a group: only for those who see all of them."""
    return all(sees_topic(kafka, topic) for topic in totals.topics)
