"""Server-side assignors: fair, sticky, and the same whatever the order of sets."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from samsa.groups.assignors import NOTHING, Subscriber, assign_range, assign_uniform

T, U, V = UUID(int=1), UUID(int=2), UUID(int=3)


def reader(*topics: UUID, had=NOTHING, instance=None) -> Subscriber:
    return Subscriber(instance, frozenset(topics), frozenset(had))


def numbers(partitions, topic: UUID) -> list[int]:
    return sorted(number for each, number in partitions if each == topic)


def test_range_gives_runs_and_the_first_ones_the_odd_partition():
    given = assign_range({"b": reader(T), "a": reader(T), "c": reader(T)}, {T: 7})
    assert [numbers(given[each], T) for each in "abc"] == [[0, 1, 2], [3, 4], [5, 6]]


def test_range_gives_the_same_numbers_of_two_topics_to_one_member():
    given = assign_range({"a": reader(T, U), "b": reader(T, U)}, {T: 4, U: 4})
    assert all(numbers(given[each], T) == numbers(given[each], U) for each in "ab")


def test_range_keeps_static_members_in_their_places():
    before = assign_range({"z": reader(T, instance="1"), "a": reader(T)}, {T: 2})
    assert numbers(before["z"], T) == [0]
    after = assign_range({"a": reader(T), "c": reader(T, instance="1")}, {T: 2})
    assert numbers(after["c"], T) == [0]


def test_range_counts_only_the_readers_of_a_topic():
    given = assign_range({"a": reader(T), "b": reader(T, U)}, {T: 2, U: 2})
    assert numbers(given["b"], U) == [0, 1]


def test_uniform_moves_no_more_than_it_must():
    first = assign_uniform({"a": reader(T), "b": reader(T)}, {T: 7})
    had = {each: reader(T, had=mine) for each, mine in first.items()}
    second = assign_uniform({**had, "c": reader(T)}, {T: 7})
    assert sorted(map(len, second.values())) == [2, 2, 3]
    assert all(second[each] <= first[each] for each in "ab")


def test_uniform_moves_nothing_when_nothing_changed():
    first = assign_uniform({"a": reader(T), "b": reader(T), "c": reader(T)}, {T: 5})
    had = {each: reader(T, had=mine) for each, mine in reversed(first.items())}
    assert assign_uniform(had, {T: 5}) == first


def test_uniform_forgets_partitions_that_do_not_exist_any_more():
    given = assign_uniform({"a": reader(T, had={(U, 0), (T, 5)})}, {T: 2})
    assert given == {"a": frozenset({(T, 0), (T, 1)})}


def test_uniform_evens_out_what_only_some_can_read():
    given = assign_uniform({"a": reader(T), "b": reader(T, U)}, {T: 4, U: 2})
    assert [len(given[each]) for each in "ab"] == [3, 3]


TOPICS = st.sampled_from([T, U, V])
MEMBERS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.builds(
        Subscriber,
        st.none() | st.sampled_from("ij"),
        st.frozensets(TOPICS, max_size=3),
        st.frozensets(st.tuples(TOPICS, st.integers(0, 6)), max_size=8),
    ),
    min_size=1,
)
COUNTS = st.dictionaries(TOPICS, st.integers(1, 7))


@given(MEMBERS, COUNTS, st.sampled_from([assign_range, assign_uniform]))
def test_every_partition_that_is_wanted_goes_to_one_of_its_readers(members, counts, assignor):
    given = assignor(members, counts)
    for member_id, mine in given.items():
        assert {topic for topic, _ in mine} <= members[member_id].topics
    wanted = {topic for member in members.values() for topic in member.topics} & counts.keys()
    everything = [(topic, number) for topic in wanted for number in range(counts[topic])]
    assert sorted(which for mine in given.values() for which in mine) == sorted(everything)


@given(MEMBERS, COUNTS)
def test_no_reader_of_a_partition_has_two_less_than_its_owner(members, counts):
    given = assign_uniform(members, counts)
    for owner, mine in given.items():
        for topic in {topic for topic, _ in mine}:
            for other, member in members.items():
                if topic in member.topics:
                    assert len(given[other]) >= len(given[owner]) - 1
