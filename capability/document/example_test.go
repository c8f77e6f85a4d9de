package document_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability/document"
)

func ExampleParse() {
	n, err := document.Parse("job.yaml", []byte("name: build\nsteps:\n  - make\n  - make test\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.Key("name").Text())
	for _, step := range n.Key("steps").Items() {
		fmt.Printf("%d:%d %s\n", step.Line, step.Column, step.Text())
	}
	// Output:
	// build
	// 3:5 make
	// 4:5 make test
}

func ExampleNode_Decode() {
	var job struct {
		Name     string        `json:"name"`
		Deadline time.Duration `json:"deadline"`
		Retries  int           `json:"retries" zero:"-1"`
	}
	n, err := document.Parse("job.yaml", []byte("nmae: build\ndeadline: 30\nretries: 0\n"))
	if err == nil {
		err = n.Decode(&job)
	}
	var problems document.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Println(p)
		}
	}
	fmt.Println("retries:", job.Retries)
	// Output:
	// job.yaml:1:1: unknown key "nmae"; did you mean "name"?
	// job.yaml:2:11: the length of time "30" has no unit; write a number with its unit, such as "30s", "1m30s" or "500ms"
	// retries: -1
}
