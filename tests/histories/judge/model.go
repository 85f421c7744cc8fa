package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// The state of a partition's log is its end. What lies below follows from the known log.
//
// The log is append-only: an append gets the offset where the log ends, and all that comes later
// sees it there. A read returns what lies from its offset on, at least one batch if there is one,
// and the end. An end returns the end.
var model = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(before, input, _ any) (bool, any) {
		why, after := step(before.(int64), input.(*action))
		return why == "", after
	},
	DescribeOperation: func(input, _ any) string { return input.(*action).String() },
	DescribeState:     func(end any) string { return fmt.Sprintf("end %d", end) },
}

// step returns why the action cannot happen now, or nothing; and the end after it.
func step(end int64, one *action) (string, int64) {
	switch {
	case one.again:
		return repeated(end, one), end
	case one.Kind == kindAppend:
		return appended(end, one)
	case one.Result.End != end:
		return fmt.Sprintf("the end is %d, not %d", end, one.Result.End), end
	case one.Kind == kindRead:
		return contents(one), end
	default:
		return "", end
	}
}

func repeated(end int64, one *action) string {
	if one.base >= end || one.log.at[one.base] != one.Arguments.Values[0] {
		return fmt.Sprintf("offset %d does not hold it", one.base)
	}
	return ""
}

func appended(end int64, one *action) (string, int64) {
	switch {
	case one.base == unplaced && !one.log.isFree(end, end+one.size()):
		return fmt.Sprintf("offset %d holds another value", end), end
	case one.base != unplaced && one.base < end:
		return fmt.Sprintf("offset %d was taken: the next one is %d", one.base, end), end
	case one.base > end:
		return fmt.Sprintf("offset %d skips %d", one.base, end), end
	}
	return "", end + one.size()
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
