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
// when that is of no use.
package httptool
