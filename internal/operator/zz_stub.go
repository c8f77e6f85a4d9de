package operator

// Controls stands until the real one lands: whoever lands it deletes this file.
func Controls(string) string { return "" }
