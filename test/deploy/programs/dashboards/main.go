// Holds dashboards to the types that Grafana publishes: what they do not know, what is missing and what is of another type is told, a line
// each. Ends with 1 where there is any.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	// Options of a panel and of a query are of the plugin that it names.
	plugins.RegisterDefaultPlugins()
	found := 0
	for _, path := range os.Args[1:] {
		for _, problem := range problemsOf(path) {
			found++
			fmt.Printf("%s: %s\n", path, problem)
		}
	}
	fmt.Printf("%d dashboards, %d problems\n", len(os.Args)-1, found)
	if found > 0 || len(os.Args) == 1 {
		os.Exit(1)
	}
}

func problemsOf(path string) []string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	var read dashboard.Dashboard
	problems := linesOf(read.UnmarshalJSONStrict(raw))
	if len(problems) > 0 {
		return problems
	}
	if _, err := json.Marshal(read); err != nil {
		return []string{err.Error()}
	}
	return linesOf(read.Validate())
}

// An error that holds no single one is none: the generated code gives such.
func linesOf(err error) []string {
	var all cog.BuildErrors
	if err == nil {
		return nil
	}
	if !errors.As(err, &all) {
		return []string{err.Error()}
	}
	lines := []string{}
	for _, each := range all {
		lines = append(lines, each.Error())
	}
	return lines
}
