package components

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd serves one member. It takes few flags, because embed is a library and etcd's own
// command line is not part of it.
func runEtcd() int {
	flags := flag.NewFlagSet(Etcd, flag.ContinueOnError)
	data := flags.String("data-dir", "", "folder for the data")
	client := flags.String("listen-client-url", "", "where clients connect")
	peer := flags.String("listen-peer-url", "", "where members would connect")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return 2
	}
	if err := serveEtcd(*data, *client, *peer); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
	return 0
}

func serveEtcd(data, client, peer string) error {
	clientURL, err := url.Parse(client)
	if err != nil {
		return fmt.Errorf("client URL: %w", err)
	}
	peerURL, err := url.Parse(peer)
	if err != nil {
		return fmt.Errorf("peer URL: %w", err)
	}
	cfg := embed.NewConfig()
	cfg.Dir = data
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{"stderr"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// The data is thrown away at the end, and a disk that is busy with compiling makes every
	// write wait. Nothing here survives a machine anyway.
	cfg.UnsafeNoFsync = true

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		return fmt.Errorf("not ready after a minute")
	case err := <-server.Err():
		return err
	}
	select {
	case err := <-server.Err():
		return err
	case <-stop:
		return nil
	}
}
