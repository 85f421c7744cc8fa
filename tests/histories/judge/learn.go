package main

import (
	"math"
	"sort"
)

// unplaced is the base of an append that has no answer and that no read showed.
const unplaced = -1

const never = math.MaxInt64

// action is what the model steps by: an operation as it is, or all attempts of one append as one.
type action struct {
	operation
	// base of an append, told by its answer or by the first read that showed it.
	base int64
	// again marks an append that was answered before: it adds nothing.
	again  bool
	call   int64
	finish int64
	log    *knownLog
}

// knownLog is what the history as a whole tells about one partition's log. Values are unique, so the
// place of nearly every append is known before the search begins. It decides only the order.
type knownLog struct {
	at map[int64]string
}

// learn turns the operations of one partition into actions.
//
// Attempts of the same append become one action: it takes effect once, between the first call and
// the first evidence (an answer, or the end of a read that showed it). An append without either may
// stand after everything else, where it changes nothing: if there is no offset left that it could
// have taken, it is left out, because each one in the search doubles it.
func learn(operations []operation) []*action {
	log := &knownLog{at: map[int64]string{}}
	appends, rest := grouped(operations, log)
	place(appends, rest)
	for _, one := range appends {
		log.add(one)
	}
	actions := rest
	keepsUnplaced := log.hasGapBelow(horizon(log, rest))
	for _, one := range appends {
		if one.base != unplaced || keepsUnplaced {
			actions = append(actions, one)
		}
	}
	return actions
}

// grouped returns one action for each append, in the order of evidence, and those for all else that
// has a result.
func grouped(operations []operation, log *knownLog) (appends, rest []*action) {
	byValue := map[string]*action{}
	for _, one := range byReturn(operations) {
		first := byValue[keyOf(one)]
		switch {
		case one.Kind == kindAppend && first == nil:
			byValue[keyOf(one)] = newAppend(one, log)
			appends = append(appends, byValue[keyOf(one)])
		case one.Kind == kindAppend && one.Result == nil:
			first.call = min(first.call, one.Invoked)
		case one.Kind == kindAppend:
			first.call = min(first.call, one.Invoked)
			repeated := newAppend(one, log)
			repeated.again = true
			rest = append(rest, repeated)
		case one.Result != nil:
			rest = append(rest, &action{one, unplaced, false, one.Invoked, *one.Returned, log})
		}
	}
	return appends, rest
}

func keyOf(one operation) string {
	if one.Kind != kindAppend {
		return ""
	}
	return one.Arguments.Values[0]
}

func newAppend(one operation, log *knownLog) *action {
	made := &action{one, unplaced, false, one.Invoked, never, log}
	if one.Result != nil {
		made.base, made.finish = one.Result.Offset, *one.Returned
	}
	return made
}

func byReturn(operations []operation) []operation {
	sorted := append([]operation{}, operations...)
	sort.SliceStable(sorted, func(a, b int) bool {
		return returned(sorted[a]) < returned(sorted[b])
	})
	return sorted
}

func returned(one operation) int64 {
	if one.Returned == nil {
		return never
	}
	return *one.Returned
}

// place gives appends without an answer the base at which a read first showed them. `rest` is in the
// order of returns.
func place(appends, rest []*action) {
	type member struct {
		of    *action
		index int64
	}
	members := map[string]member{}
	for _, one := range appends {
		for index, value := range one.Arguments.Values {
			members[value] = member{one, int64(index)}
		}
	}
	for _, read := range rest {
		if read.Kind != kindRead {
			continue
		}
		for n, value := range read.Result.Values {
			found, isKnown := members[value]
			if isKnown && found.of.base == unplaced {
				found.of.base = read.Result.Offsets[n] - found.index
				found.of.finish = read.finish
			}
		}
	}
}

// add enters an append whose base is known. The first one to claim an offset has it: whatever
// contradicts that is refused by the model.
func (l *knownLog) add(one *action) {
	if one.base == unplaced {
		return
	}
	for index, value := range one.Arguments.Values {
		offset := one.base + int64(index)
		if _, isTaken := l.at[offset]; !isTaken {
			l.at[offset] = value
		}
	}
}

func (a *action) size() int64 { return int64(len(a.Arguments.Values)) }

func (a *action) end() int64 { return a.base + a.size() }

func (l *knownLog) isFree(from, to int64) bool {
	for offset := from; offset < to; offset++ {
		if _, isTaken := l.at[offset]; isTaken {
			return false
		}
	}
	return true
}

func (l *knownLog) hasGapBelow(offset int64) bool {
	for at := int64(0); at < offset; at++ {
		if _, isKnown := l.at[at]; !isKnown {
			return true
		}
	}
	return false
}

// horizon is the highest offset that anybody knows of.
func horizon(log *knownLog, rest []*action) int64 {
	highest := int64(0)
	for offset := range log.at {
		highest = max(highest, offset+1)
	}
	for _, one := range rest {
		highest = max(highest, one.Result.End)
	}
	return highest
}
