// Package httptool guards an http.Client: most tools end in HTTP, and a host
// that is down should be asked once in a while, not at each call.
//
// A Transport asks an executor's engine before each request, by host or by a
// name of the caller's own. A refused request is not sent: the client returns a
// *url.Error in which errors.As finds the *executor.Refused, and with it the
// declared route. What came of a request that was sent (connection errors,
// status, Retry-After, rate limits) is recorded once, as classify.Observe judges
// it: a 404 is an answer, a 503 is not.
//
// Requests, answers and bodies pass through as they are. Nothing is read ahead,
// and nothing is sent twice: whoever wants to retry asks again, and is refused
// when that is of no use. Of the executor's settings Limits and Guards hold for
// requests; Deadlines and Fallbacks are for executor.Do alone. A request's time is
// limited by its context, or by the client's Timeout.
//
// Guard a request in one place. A guarded client inside executor.Do on the same
// engine makes two failures of one failed request: the budget is charged twice,
// and two circuits that open for one cause can be an incident, which pauses every
// call. What the inner one refuses is no failure of the outer tool, and its
// Fallback stands in as for a refusal of its own. With one name for both, a trial
// of the outer call takes the inner one in, so that the tool comes back. For a
// deadline call through Do with a plain client, and return a status from 400 as an
// error; one with a method StatusCode() int is judged by that.
package httptool
