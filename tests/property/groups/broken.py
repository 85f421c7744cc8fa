"""Rules of the coordinator to take out, one at a time, and who must notice."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from samsa.groups import (
    GroupError,
    HeartbeatAnswer,
    Synced,
    classic,
    classic_join,
    classic_rebalance,
    classic_requests,
    classic_sync,
    migrate,
    reconcile,
)
from samsa.groups import consumer as consumer_protocol
from samsa.groups.assignors import NOTHING
from samsa.groups.classic_draft import ClassicDraft
from samsa.groups.classic_events import MemberGone, PhaseEnd, Rejoin
from samsa.groups.classic_state import NEVER, ClassicState, Stage
from samsa.groups.consumer_draft import ConsumerDraft
from samsa.groups.consumer_state import MemberState
from samsa.groups.requests import Heartbeat, Join, Sync

STEP = import_module("samsa.groups.step")


class Broken(NamedTuple):
    kinds: str
    take_out: Callable


BROKEN: dict[str, Broken] = {}
"""By what is done instead of the rule."""


def instead(what: str, kinds: str):
    def register(take_out):
        BROKEN[what] = Broken(kinds, take_out)
        return take_out

    return register


# The classic protocol


@instead("give a generation's number again", "classic")
def same_generation(patch):
    whole = classic_rebalance.complete

    def complete(draft):
        number = draft.generation
        whole(draft)
        draft.generation = max(number, 1)

    patch.setattr(classic_rebalance, "complete", complete)


@instead("believe heartbeats of any generation", "classic")
def any_generation(patch):
    def heartbeat(draft, request):
        error = classic_requests.why_not_member(draft, request.member_id, request.instance_id)
        return HeartbeatAnswer(error) if error else classic.happen(draft, request)

    patch.setitem(classic_requests.REQUESTS, Heartbeat, heartbeat)


@instead("answer members that prepare to rebalance as if all were well", "classic")
def keep_calm(patch):
    patch.setitem(
        classic.TRANSITIONS[Heartbeat],
        ClassicState.PREPARING_REBALANCE,
        classic_sync.accept_heartbeat,
    )


@instead("let any generation have its assignment", "classic")
def sync_any_generation(patch):
    def sync(draft, request):
        error = classic_requests.why_not_member(draft, request.member_id, request.instance_id)
        return Synced(error) if error else classic.happen(draft, request)

    patch.setitem(classic_requests.REQUESTS, Sync, sync)


@instead("answer followers before the leader has assigned", "classic")
def assign_nothing(patch):
    def hurry(draft, request):
        if request.member_id == draft.leader:
            return classic_sync.assign_or_wait(draft, request)
        return classic_sync.take_assignment(draft, request)

    patch.setitem(classic.TRANSITIONS[Sync], ClassicState.COMPLETING_REBALANCE, hurry)


@instead("leave followers waiting when the next rebalance begins", "classic")
def forget_followers(patch):
    whole = classic_rebalance.prepare

    def prepare(draft):
        waiting = draft.in_stage(Stage.SYNCING)
        whole(draft)
        for member_id in waiting:
            if draft.members[member_id].stage is Stage.SETTLED:
                draft.change(member_id, stage=Stage.SYNCING)

    for module in classic_rebalance, classic_join:
        patch.setattr(module, "prepare", prepare)


@instead("never end a session", "classic")
def endless_sessions(patch):
    patch.setattr("samsa.groups.classic_state.ClassicMember.expires_ms", NEVER)


@instead("never end a phase", "classic")
def endless_phases(patch):
    for state in ClassicState:
        patch.setitem(classic.REACTIONS[PhaseEnd], state, classic_rebalance.stay)
    whole = ClassicDraft.next_due

    def next_due(self):
        self.phase_ends_ms = NEVER
        return whole(self)

    patch.setattr(ClassicDraft, "next_due", next_due)


@instead("wait for ever for whoever was given an id", "classic")
def endless_ids(patch):
    whole = ClassicDraft.next_due

    def next_due(self):
        self.pending = dict.fromkeys(self.pending, NEVER)
        return whole(self)

    patch.setattr(ClassicDraft, "next_due", next_due)


@instead("go on without a rebalance when a member has gone", "classic")
def ignore_the_gone(patch):
    patch.setitem(classic.REACTIONS[MemberGone], ClassicState.STABLE, classic_rebalance.stay)


@instead("keep a leader that has gone", "classic")
def dead_leader(patch):
    whole = ClassicDraft.remove

    def remove(self, member_id):
        leader = self.leader
        whole(self, member_id)
        self.leader = leader

    patch.setattr(ClassicDraft, "remove", remove)


@instead("wake nobody", "classic")
def wake_nobody(patch):
    patch.setattr(STEP, "_answered", lambda before, after: frozenset())


@instead("take another look at a join for a new one", "classic")
def no_tickets(patch):
    whole = classic_requests.join

    def join(draft, request):
        return whole(draft, request._replace(again=False, ticket=f"{request.ticket}?"))

    patch.setitem(classic_requests.REQUESTS, Join, join)


@instead("write no heartbeat down", "classic")
def deaf(patch):
    patch.setattr(ClassicDraft, "prolong_session", lambda self, member_id: None)


@instead("let deadlines lie where they are when the clock is set back", "classic")
def far_deadlines(patch):
    patch.setattr(STEP, "CLOCK_TOLERANCE_MS", NEVER)


@instead("tell a member with changed metadata the old generation", "classic")
def ignore_changes(patch):
    patch.setitem(classic.TRANSITIONS[Rejoin], ClassicState.STABLE, classic_join.tell)


@instead("forget an instance's assignment when it comes back", "classic")
def forget_assignments(patch):
    whole = classic_join._replace

    def replace(draft, event):
        whole(draft, event)
        draft.change(event.member_id, assignment=b"")

    patch.setattr(classic_join, "_replace", replace)


# The consumer protocol


@instead("assign what its owner has not let go", "consumer")
def do_not_wait(patch):
    patch.setattr(ConsumerDraft, "held_by_others", lambda self, member_id: NOTHING)


@instead("take partitions away without being told that they are let go", "consumer")
def assume_revoked(patch):
    patch.setattr(reconcile.Aim, "still_owns", lambda self, partitions: False)


@instead("forget what a member is still to let go", "consumer")
def forget_revoking(patch):
    patch.setattr(
        "samsa.groups.consumer_state.ConsumerMember.holds", property(lambda self: self.assigned)
    )


@instead("wait for ever for partitions to be let go", "consumer")
def endless_patience(patch):
    whole = ConsumerDraft.advance

    def advance(self, member_id, owned):
        whole(self, member_id, owned)
        self.change(member_id, revoke_by_ms=NEVER)

    patch.setattr(ConsumerDraft, "advance", advance)


@instead("never end a consumer's session", "consumer")
def endless_consumers(patch):
    patch.setattr("samsa.groups.consumer_state.ConsumerMember.expires_ms", NEVER)


@instead("let a consumer's deadlines lie when the clock is set back", "consumer")
def far_consumer_deadlines(patch):
    patch.setattr(ConsumerDraft, "pull_in", lambda self: None)


@instead("compute no targets for a group that lost a member", "consumer")
def same_targets(patch):
    whole = ConsumerDraft.remove

    def remove(self, member_ids):
        number = self.epoch
        whole(self, member_ids)
        self.epoch = number

    patch.setattr(ConsumerDraft, "remove", remove)


@instead("never look at the topics again", "consumer")
def same_topics(patch):
    patch.setattr(ConsumerDraft, "_is_current", lambda self, known, matches: True)


@instead("let two have one instance id", "consumer")
def share_instances(patch):
    patch.setattr(ConsumerDraft, "static_id", lambda self, instance_id: None)

    def why_not_member(draft, member_id, instance_id):
        return None if member_id in draft.members else GroupError.UNKNOWN_MEMBER_ID

    patch.setattr(consumer_protocol, "why_not_member", why_not_member)


@instead("lead a member on though it has not caught up", "consumer")
def skip_reconciliation(patch):
    def let_go(member, aim):
        return member._replace(state=MemberState.STABLE, epoch=aim.epoch, assigned=aim.target)

    patch.setitem(reconcile.TOWARDS, MemberState.UNREVOKED, let_go)


# Moving between the protocols


@instead("forget what members had when their group is upgraded", "mixed")
def forget_on_upgrade(patch):
    patch.setattr(
        migrate,
        "_held",
        lambda group, subscriptions, known: dict.fromkeys(group.members, NOTHING),
    )


@instead("forget what members still read in the middle of a rebalance", "mixed")
def forget_owned(patch):
    whole = migrate._held

    def held(group, subscriptions, known):
        silent = {each: said._replace(owned=()) for each, said in subscriptions.items()}
        return whole(group, silent, known)

    patch.setattr(migrate, "_held", held)


@instead("leave classic members alone in a group of the other kind", "mixed")
def never_downgrade(patch):
    patch.setattr(STEP, "must_downgrade", lambda group: False)


@instead("begin a downgraded group's generations anew", "mixed")
def restart_generations(patch):
    whole = migrate.to_classic

    def to_classic(group, now_ms, settings):
        return whole(group._replace(epoch=0), now_ms, settings)

    patch.setattr(STEP, "to_classic", to_classic)


@instead("never call classic members to join a group of the other kind", "mixed")
def never_call(patch):
    from samsa.groups import consumer_classic

    patch.setattr(consumer_classic, "_has_more_to_do", lambda draft, member_id: False)
