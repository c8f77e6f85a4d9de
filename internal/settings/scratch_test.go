package settings
import ("testing";"fmt")
func TestScratch(t *testing.T) {
	c := command{words: []string{"expediter","hook","claude-code"}}
	for _, in := range []string{"{}\n", "{\"a\":1}", "{\n\t\"a\": 1, // x\n\t\"hooks\": {\n\t\t\"PreToolUse\": [{\n\t\t\t\"matcher\": \"Bash\",\n\t\t\t\"hooks\": []\n\t\t}],\n\t\t\"Stop\": [], // none\n\t},\n\t/* z */\n}"} {
		out, err := insert("f", []byte(in), agents[0], c)
		fmt.Println(string(out), err)
		d,_ := parse("f", out)
		b, n, e := strip(d, agents[0], origin{}, all)
		fmt.Printf("%q %d %v\n", b, n, e)
	}
}
