package tmpdeps
import (
 _ "github.com/sony/gobreaker/v2"
 _ "github.com/cenkalti/backoff/v4"
 _ "golang.org/x/sync/errgroup"
 _ "golang.org/x/sync/singleflight"
 _ "go.uber.org/zap"
 _ "github.com/google/go-cmp/cmp"
 _ "pgregory.net/rapid"
 _ "github.com/rogpeppe/go-internal/testscript"
 _ "github.com/spf13/cobra"
 _ "go.yaml.in/yaml/v3"
 _ "golang.org/x/term"
 _ "github.com/failsafe-go/failsafe-go/circuitbreaker"
)
