package trace

import "testing"

func TestSWEReport(t *testing.T) {
	tests := []struct {
		name, observation string
		want              string // empty: no report
	}{
		{"the last line", "building\nEXECUTION TIMED OUT", "EXECUTION TIMED OUT"},
		{"with more to say", "a\nEXECUTION TIMED OUT BECAUSE NO OUTPUT WAS PRODUCED.\nPLEASE REFINE YOUR COMMAND.\n",
			"EXECUTION TIMED OUT BECAUSE NO OUTPUT WAS PRODUCED.\nPLEASE REFINE YOUR COMMAND."},
		{"alone", "COMMAND FAILED TO EXECUTE. RESTARTING PROCESS.", "COMMAND FAILED TO EXECUTE. RESTARTING PROCESS."},
		{"the newer text", "The command 'make' was cancelled because it took more than 30 seconds. Please try another.",
			"it took more than 30 seconds. Please try another."},
		{"in the midst of a line", "grep: EXECUTION TIMED OUT", ""},
		{"in the midst of an output", "EXECUTION TIMED OUT\n1\n2\n3", ""},
		{"another command's words", "The command 'make' was not found", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := sweReport(tt.observation)
			if got.Result != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, %v; want %q", got.Result, ok, tt.want)
			}
		})
	}
}
