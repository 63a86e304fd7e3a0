package controlplane

import (
	"fmt"
	"net"
	"sync"
)

// ports gives out free ports of 127.0.0.1, each once in a process, so that two calls do not
// get the same one before it is listened on.
type ports struct {
	mu   sync.Mutex
	used map[int]bool
}

func (p *ports) free() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range 100 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := listener.Addr().(*net.TCPAddr).Port
		_ = listener.Close()
		if !p.used[port] {
			if p.used == nil {
				p.used = map[int]bool{}
			}
			p.used[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1")
}
