package controllerruntime_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // or controller-runtime complains that nobody did
	os.Exit(m.Run())
}
