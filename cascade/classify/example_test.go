package classify_test

import (
	"fmt"

	"github.com/expediter-go/expediter/cascade/classify"
)

func ExampleObserve() {
	exit := 7
	v := classify.Observe(classify.Observation{
		Tool:     "Bash",
		Shell:    "curl -s https://api.example.com/v1/items",
		Result:   "curl: (7) Failed to connect to api.example.com port 443 after 3 ms: Couldn't connect to server",
		ExitCode: &exit,
	})
	fmt.Println(v.Key, v.Outcome, v.Category)
	fmt.Println(v.Signature)

	v = classify.Observe(classify.Observation{Tool: "Edit", Failed: true, Result: "String to replace not found in file."})
	fmt.Println(v.Key, v.Outcome, v.Class)
	// Output:
	// Bash/curl failure network
	// curl: (#) Failed to connect to <host> port # after # ms: Couldn't connect to server
	// Edit success invalid_input
}

func ExampleCompile() {
	rules, err := classify.Compile([]classify.Rule{{Match: "frobnicator is cold", Category: "upstream"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := classify.Observe(classify.Observation{Tool: "frob", Failed: true, Result: "the frobnicator is cold", Rules: rules})
	fmt.Println(v.Outcome, v.Category, v.Rule)
	// Output: failure upstream own:1
}
