package proof

type peerConfig struct{}

func runPeer(peerConfig) error { return nil }
