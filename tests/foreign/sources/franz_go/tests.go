// Package foreign is here to name what is tested: a module that is imported is a module that is kept.
package foreign

import _ "github.com/twmb/franz-go/pkg/kgo"
