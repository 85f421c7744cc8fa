package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// verdict on one partition.
type verdict struct {
	partition int
	result    porcupine.CheckResult
	actions   []*action
}

func judge(operations []operation, partition int, limit time.Duration) verdict {
	actions := learn(operations)
	found := porcupine.CheckOperationsTimeout(model, history(actions), limit)
	return verdict{partition, found, actions}
}

// history gives each action to Porcupine. What has no finish ends after everything else.
func history(actions []*action) []porcupine.Operation {
	made := make([]porcupine.Operation, len(actions))
	for n, one := range actions {
		made[n] = porcupine.Operation{
			ClientId: one.Client, Input: one, Call: one.call, Output: one, Return: one.finish,
		}
	}
	return made
}

// shortest returns the actions up to the first moment that no order explains.
func shortest(actions []*action, limit time.Duration) []*action {
	moments := make([]int64, len(actions))
	for n, one := range actions {
		moments[n] = one.finish
	}
	slices.Sort(moments)
	first := sort.Search(len(moments)-1, func(n int) bool {
		prefix := history(until(actions, moments[n]))
		found := porcupine.CheckOperationsTimeout(model, prefix, limit)
		return found == porcupine.Illegal
	})
	return until(actions, moments[first])
}

// until returns what had finished by the moment, and the appends under way that lie below the end
// that it shows. Other appends may not have happened yet.
func until(actions []*action, moment int64) []*action {
	var kept []*action
	shown := int64(0)
	for _, one := range actions {
		if one.finish <= moment {
			kept = append(kept, one)
			shown = max(shown, one.shows())
		}
	}
	for _, one := range actions {
		if one.finish > moment && one.call <= moment && one.Kind == kindAppend && one.base < shown {
			open := *one
			open.finish = never
			kept = append(kept, &open)
		}
	}
	return kept
}

// shows returns the end of the log that the action proves.
func (a *action) shows() int64 {
	switch {
	case a.Kind != kindAppend:
		return a.Result.End
	case a.base == unplaced:
		return 0
	default:
		return a.end()
	}
}

const mentioned = 6

// explain returns what could not be ordered, and writes Porcupine's picture of it.
func explain(found verdict, picture string, limit time.Duration) (string, error) {
	actions := shortest(found.actions, limit)
	_, info := porcupine.CheckOperationsVerbose(model, history(actions), limit)
	placed := longest(info.PartialLinearizationsOperations()[0])
	end, isPlaced := int64(0), map[*action]bool{}
	for _, one := range placed {
		_, end = step(end, one)
		isPlaced[one] = true
	}
	var text strings.Builder
	fmt.Fprintf(&text, "partition %d: no order explains what was seen. After\n", found.partition)
	for _, one := range placed[max(0, len(placed)-mentioned):] {
		fmt.Fprintf(&text, "  %s\n", one.line())
	}
	fmt.Fprintf(&text, "the log is at: %s. Not possible then:\n", model.DescribeState(end))
	for _, one := range refused(actions, isPlaced) {
		why, _ := step(end, one)
		fmt.Fprintf(&text, "  %s (%s)\n", one.line(), why)
	}
	fmt.Fprintf(&text, "Picture: %s\n", picture)
	return text.String(), porcupine.VisualizePath(model, info, picture)
}

func longest(orders [][]porcupine.Operation) []*action {
	var best []porcupine.Operation
	for _, order := range orders {
		if len(order) > len(best) {
			best = order
		}
	}
	actions := make([]*action, len(best))
	for n, one := range best {
		actions[n] = one.Input.(*action)
	}
	return actions
}

// refused are the actions that found no place, those that finished first.
func refused(actions []*action, isPlaced map[*action]bool) []*action {
	var left []*action
	for _, one := range actions {
		if !isPlaced[one] {
			left = append(left, one)
		}
	}
	sort.SliceStable(left, func(a, b int) bool { return left[a].finish < left[b].finish })
	return left[:min(len(left), mentioned)]
}

func (a *action) line() string {
	return fmt.Sprintf("client %d at process %d, %s: %s", a.Client, a.Process, a.times(), a)
}

func (a *action) times() string {
	if a.finish == never {
		return fmt.Sprintf("%s to the end", seconds(a.call))
	}
	return fmt.Sprintf("%s to %s", seconds(a.call), seconds(a.finish))
}

func seconds(nanoseconds int64) string {
	return fmt.Sprintf("%.6f s", float64(nanoseconds)/1e9)
}
