"""The tests of groups once more, on DynamoDB Local."""

from collections.abc import Iterator

import pytest
from server.process import Samsa, a_samsa
from server.test_groups import *  # noqa: F403
from server.test_groups_admin import *  # noqa: F403
from server.test_groups_consumer import *  # noqa: F403
from server.test_groups_room import (  # noqa: F401
    test_a_full_group_refuses_newcomers_and_its_members_are_stable,
    test_a_hundred_and_ten_members_that_subscribe_to_the_same_are_stable,
    test_assignments_that_do_not_fit_leave_the_group_as_it_is,
    test_the_broker_refuses,
)
from server.test_offsets import *  # noqa: F403

# Those that start their own broker, and so would only repeat themselves.
del test_a_parked_join_does_not_hold_up_the_end_of_the_broker  # noqa: F821
del test_upkeep_keeps_what_is_young_and_forgets_what_was_to_be_kept_for_a_moment  # noqa: F821

OBJECTS = "memory://"


@pytest.fixture(scope="module")
def samsa(local_dynamodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    folder = tmp_path_factory.mktemp("on-dynamodb")
    ledger = f"dynamodb://groups?region=us-east-1&endpoint={local_dynamodb}"
    with a_samsa(folder, "--ledger", ledger, "--objects", OBJECTS) as running:
        yield running
