package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// state of one partition's log. What lies below `next` follows from the known log.
type state struct {
	next int64
	// shown is the end that readers have seen, where it may trail.
	shown int64
}

// rules say whether an action may happen now, and what is so afterwards.
//
// The log is append-only: an append gets the offset where the log ends, and all that comes later
// sees it there. A read returns what lies from its offset on, at least one batch if there is one,
// and the end. An end returns the end.
//
// With holes, an append first takes its offsets and is shown later, in order. Offsets whose writer
// died stay empty. So an append may leave out offsets, and the end may trail; it never goes back, it
// never passes an append that is not there yet, and what lies below it is complete.
type rules struct{ holes bool }

func (r rules) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(before, input, _ any) (bool, any) {
			why, after := r.step(before.(state), input.(*action))
			return why == "", after
		},
		DescribeOperation: func(input, _ any) string { return input.(*action).String() },
		DescribeState: func(now any) string {
			if r.holes {
				return fmt.Sprintf("next %d, shown %d", now.(state).next, now.(state).shown)
			}
			return fmt.Sprintf("end %d", now.(state).next)
		},
	}
}

// step returns why the action cannot happen now, or nothing and the state after it.
func (r rules) step(now state, one *action) (string, state) {
	switch {
	case one.again:
		return repeated(now, one), now
	case one.Kind == kindAppend:
		return r.appended(now, one)
	case one.Kind == kindRead:
		why, after := r.showed(now, one)
		if why == "" {
			why = contents(one)
		}
		return why, after
	default:
		return r.showed(now, one)
	}
}

func repeated(now state, one *action) string {
	if one.base >= now.next || one.log.at[one.base] != one.Arguments.Values[0] {
		return fmt.Sprintf("offset %d does not hold it", one.base)
	}
	return ""
}

func (r rules) appended(now state, one *action) (string, state) {
	base := one.base
	if base == unplaced {
		base = now.next
		if !one.log.isFree(base, base+one.size()) {
			return fmt.Sprintf("offset %d holds another value", base), now
		}
	}
	switch {
	case base < now.next:
		return fmt.Sprintf("offset %d was taken: the next one is %d", base, now.next), now
	case base > now.next && !r.holes:
		return fmt.Sprintf("offset %d skips %d", base, now.next), now
	case one.log.endBefore(base) > now.next:
		return fmt.Sprintf("what lies below offset %d comes first", base), now
	}
	return "", state{base + one.size(), now.shown}
}

func (r rules) showed(now state, one *action) (string, state) {
	end := one.Result.End
	if !r.holes {
		if end != now.next {
			return fmt.Sprintf("the end is %d, not %d", now.next, end), now
		}
		return "", now
	}
	complete := one.log.endBefore(end)
	switch {
	case end < now.shown:
		return fmt.Sprintf("the end went back from %d to %d", now.shown, end), now
	case complete > end:
		return fmt.Sprintf("the end %d lies inside an append", end), now
	case complete > now.next:
		return fmt.Sprintf("the end %d passes what is not appended yet", end), now
	}
	return "", state{now.next, end}
}

// contents says what is wrong with the values that a read returned.
func contents(read *action) string {
	from, got := read.Arguments.Offset, read.Result
	if got.Through > got.End && got.Through > from {
		return fmt.Sprintf("it read up to %d, beyond the end %d", got.Through, got.End)
	}
	if got.End > from && got.Through <= from {
		return fmt.Sprintf("nothing was read at %d, below the end %d", from, got.End)
	}
	seen := map[int64]string{}
	for n, offset := range got.Offsets {
		known, isKnown := read.log.at[offset]
		switch {
		case !isKnown:
			return fmt.Sprintf("offset %d shows %s, which nobody appended there", offset, got.Values[n])
		case known != got.Values[n]:
			return fmt.Sprintf("offset %d shows %s and holds %s", offset, got.Values[n], known)
		case offset < from || offset >= got.Through:
			return fmt.Sprintf("offset %d is not in what was read", offset)
		}
		seen[offset] = known
	}
	for offset := from; offset < got.Through; offset++ {
		if known, isKnown := read.log.at[offset]; isKnown && seen[offset] != known {
			return fmt.Sprintf("offset %d holds %s, which is missing", offset, known)
		}
	}
	return ""
}

func (a *action) String() string {
	switch {
	case a.Kind == kindAppend && a.Result == nil && a.base == unplaced:
		return fmt.Sprintf("append %v: no answer", a.Arguments.Values)
	case a.Kind == kindAppend && a.Result == nil:
		return fmt.Sprintf("append %v: no answer, seen at %d", a.Arguments.Values, a.base)
	case a.Kind == kindAppend:
		return fmt.Sprintf("append %v: offset %d", a.Arguments.Values, a.base)
	case a.Kind == kindRead:
		return fmt.Sprintf("read from %d: %s, end %d", a.Arguments.Offset, a.values(), a.Result.End)
	default:
		return fmt.Sprintf("end: %d", a.Result.End)
	}
}

func (a *action) values() string {
	got := a.Result
	switch count := len(got.Values); count {
	case 0:
		return "nothing"
	case 1:
		return fmt.Sprintf("%s at %d", got.Values[0], got.Offsets[0])
	default:
		last := count - 1
		return fmt.Sprintf("%s at %d to %s at %d (%d values)", got.Values[0], got.Offsets[0],
			got.Values[last], got.Offsets[last], count)
	}
}
