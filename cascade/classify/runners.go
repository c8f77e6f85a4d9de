package classify

// runners are the programs that run the agent's own code: what their output
// says about networks and services is about that code.
var runners = map[string]bool{
	"pytest": true, "tox": true, "nox": true, "jest": true, "vitest": true, "mocha": true, "ava": true,
	"playwright": true, "cypress": true, "tsc": true, "eslint": true, "rspec": true, "phpunit": true,
	"ctest": true, "gotestsum": true, "make": true, "xcodebuild": true,
	"golangci-lint": true, "ruff": true, "mypy": true, "pyright": true, "biome": true,
	"npm test": true, "npm run": true, "pnpm test": true, "pnpm run": true, "yarn test": true, "yarn run": true,
	"bun test": true, "bun run": true, "deno test": true, "go test": true, "go vet": true, "cargo test": true, "cargo clippy": true,
	"mvn test": true, "gradle test": true, "dotnet test": true, "mix test": true, "swift test": true, "rails test": true,
	"python -m pytest": true, "python3 -m pytest": true, "python -m unittest": true, "python3 -m unittest": true,
	"uv run": true, "poetry run": true, "pipenv run": true, "bundle exec": true, "mise run": true, "mise test": true,
	"just": true, "task": true, "rake": true, "gradlew": true, "mvnw": true, "py.test": true,
}

// runsOwnCode holds in pipelines and lists, too: the text is told of the first
// program.
func (c command) runsOwnCode() bool {
	return runners[c.program] || runners[c.program+" "+c.sub]
}
