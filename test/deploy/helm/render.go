// Renders a chart with the template engine that Helm uses, Go's text/template, and those of Helm's functions that the
// chart uses. Reads {"Values", "Release", "Chart"} as JSON; prints a JSON object of template names and what they became.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"text/template"
)

func main() {
	var data map[string]interface{}
	check(json.NewDecoder(os.Stdin).Decode(&data))
	chart := template.New("chart").Option("missingkey=zero")
	chart.Funcs(functions(chart))
	files, err := filepath.Glob(filepath.Join(os.Args[1], "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = chart.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	rendered := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if !strings.HasPrefix(name, "_") {
			text, err := execute(chart, name, data)
			check(err)
			rendered[name] = text
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func execute(chart *template.Template, name string, data interface{}) (string, error) {
	var text strings.Builder
	err := chart.ExecuteTemplate(&text, name, data)
	// As Helm does with values that are not there.
	return strings.ReplaceAll(text.String(), "<no value>", ""), err
}

func isEmpty(value interface{}) bool {
	truth, ok := template.IsTrue(value)
	return !ok || !truth
}

// Each as Helm and its library sprig define it.
func functions(chart *template.Template) template.FuncMap {
	indent := func(spaces int, text string) string {
		pad := strings.Repeat(" ", spaces)
		return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
	}
	return template.FuncMap{
		"include": func(name string, data interface{}) (string, error) { return execute(chart, name, data) },
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", errors.New(message) },
		"default": func(otherwise interface{}, value ...interface{}) interface{} {
			if len(value) == 0 || isEmpty(value[0]) {
				return otherwise
			}
			return value[0]
		},
		"toYaml":     func(value interface{}) string { return strings.TrimSuffix(yaml(value, ""), "\n") },
		"indent":     indent,
		"nindent":    func(spaces int, text string) string { return "\n" + indent(spaces, text) },
		"quote":      func(value interface{}) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"contains":   func(part string, text string) bool { return strings.Contains(text, part) },
		"trimSuffix": func(suffix string, text string) string { return strings.TrimSuffix(text, suffix) },
		"trunc": func(length int, text string) string {
			if len(text) > length {
				return text[:length]
			}
			return text
		},
		"regexReplaceAll": func(pattern string, text string, by string) string {
			return regexp.MustCompile(pattern).ReplaceAllString(text, by)
		},
		"int": func(value interface{}) int { return int(reflect.ValueOf(value).Float()) },
	}
}

// In blocks, as Helm writes it: lines of a map may follow those of another.
func yaml(value interface{}, pad string) string {
	var text strings.Builder
	switch value := value.(type) {
	case map[string]interface{}:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			text.WriteString(pad + scalar(name) + ":" + below(value[name], pad))
		}
	case []interface{}:
		for _, item := range value {
			text.WriteString(pad + "-" + below(item, pad))
		}
	default:
		return pad + scalar(value) + "\n"
	}
	return text.String()
}

func below(value interface{}, pad string) string {
	nested := reflect.ValueOf(value)
	isNested := nested.Kind() == reflect.Map || nested.Kind() == reflect.Slice
	if isNested && nested.Len() > 0 {
		return "\n" + yaml(value, pad+"  ")
	}
	return " " + scalar(value) + "\n"
}

func scalar(value interface{}) string {
	text, err := json.Marshal(value)
	check(err)
	return string(text)
}
