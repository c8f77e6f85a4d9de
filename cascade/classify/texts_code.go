package classify

// codeTexts: compilers, tests, version control and programs of the agent's own
// making that crash. They say that the code is wrong, which is an answer.
var codeTexts = []textRule{
	{class: invalidInput, lit: "err", pattern: `^\S+\.\w{1,5}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)): (?:fatal )?err(?:or)?\b`, example: "a.c:3:2: error: x"},
	{class: invalidInput, lit: ":", pattern: `^\S+\.(?:go|c|cc|cpp|h|rs|py|js|mjs|ts|tsx|jsx|java|kt|cs|rb|php|swift|scala|zig|lua):\d+(?::\d+)?:`, example: `./a.go:3:2: "os" is odd`},
	{class: invalidInput, lit: "error", pattern: `\berror(?:\[e\d{4}\]| (?:cs|ts|fs|bc|nu|msb)\d{4})`, example: "error CS0103: x"},
	{class: invalidInput, lit: "could not compile", example: "error: could not compile x due to 1 previous problem"},
	{class: invalidInput, lit: "not used", pattern: `\b(?:declared|imported) and not used\b`, example: "declared and not used: x"},
	{class: invalidInput, lit: "is not in std", example: "package example.com/nope is not in std"},
	{class: invalidInput, lit: "no go files in", example: "no Go files in /w"},
	{class: invalidInput, lit: "updates to go.mod needed", example: "go: updates to go.mod needed"},
	{class: invalidInput, lit: "panic: ", pattern: `^panic: runtime error`, example: "panic: runtime error: index out of range"},
	{class: invalidInput, lit: "exception", pattern: `\b(?:nullpointer|nullreference|argument(?:null|outofrange)?|illegal(?:argument|state)|classcast|arithmetic|indexoutofbounds|arrayindexoutofbounds|numberformat|invalidoperation|invalidcast|format|keynotfound|nosuchelement|notimplemented|concurrentmodification)exception\b`, example: "java.lang.NullPointerException"},
	{class: invalidInput, lit: "out of ", pattern: `\bout of (?:range|bounds)\b`, example: "index out of range"},
	{class: invalidInput, lit: "division by zero", example: "awk: division by zero attempted"},
	{class: invalidInput, lit: "non-zero exit status", example: "Command 'x' returned non-zero exit status 1."},
	{class: invalidInput, lit: "make", pattern: `^make(?:\[\d+\])?: \*\*\* `, example: "make: *** [a:3: test] Error 1"},
	{class: invalidInput, lit: "subprocess-exited-with-error", example: "error: subprocess-exited-with-error"},
	{class: invalidInput, lit: "failed building wheel", example: "ERROR: Failed building wheel for x"},
	{class: invalidInput, lit: "code e", pattern: `\bcode (?:eresolve|ebadengine|etarget|ebadplatform|eoverride|elifecycle)\b`, example: "npm error code EBADENGINE"},
	{class: invalidInput, lit: "lockfile", pattern: `\b(?:outdated|frozen|broken|missing|no)[ _-]?lockfile`, example: `cannot install with "frozen-lockfile"`},
	{class: invalidInput, lit: "merg", pattern: `\bunmerged\b|\bnot concluded your merge\b|\bmerge_head exists\b|\bautomatic merge failed\b`, example: "error: you have unmerged files."},
	{class: invalidInput, lit: "upstream branch", pattern: `\bno upstream branch\b`, example: "The current branch x has no upstream branch."},
	{class: invalidInput, lit: "please tell me who you are", example: "*** Please tell me who you are."},
	{class: invalidInput, lit: "large files detected", example: "remote: error: GH001: Large files detected."},
	{class: invalidInput, lit: "a git ", pattern: `\b(?:does not appear to be|is not|not) a git (?:repository|command)\b`, example: "'x' does not appear to be a git repository"},
	{class: invalidInput, lit: "fatal: ", pattern: `\Afatal: `, example: "fatal: bad revision 'x'"},
	{class: none, lit: "deadlock", pattern: `\bdeadlock (?:detected|found)`, example: "ERROR:  deadlock detected"},
}
