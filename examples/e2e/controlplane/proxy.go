package controlplane

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards TCP connections, and can be a bad network: slow, or cut. The zero delay
// forwards at once.
type Proxy struct {
	target   string
	listener net.Listener
	delay    atomic.Int64
	gate     sync.RWMutex // what the target sends passes while it can be read-locked

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup
}

// NewProxy listens on a free port of 127.0.0.1 and forwards to target, which need not
// listen yet. Close ends it.
func NewProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: listener, conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens, as host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// SetDelay makes everything that the target sends arrive that much later. It takes effect
// with the next piece that arrives.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

// Hold keeps back what the target sends from now on, until Release, which must follow.
func (p *Proxy) Hold() { p.gate.Lock() }

// Release lets through what was held, in order.
func (p *Proxy) Release() { p.gate.Unlock() }

// Cut closes all connections. New ones are accepted.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.conns)
	for conn := range p.conns {
		_ = conn.Close()
	}
	return n / 2 // each connection has two ends
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	p.track(client, server)
	defer p.forget(client, server)
	both := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(server, client)
		both <- struct{}{}
	}()
	go func() {
		_ = p.copySlowly(client, server)
		both <- struct{}{}
	}()
	<-both // the other direction ends when its connection is closed
	_ = client.Close()
	_ = server.Close()
	<-both
}

// copySlowly holds every piece back for the delay without holding back what follows it.
func (p *Proxy) copySlowly(to io.Writer, from io.Reader) error {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	failed := make(chan error, 1)
	go func() {
		var err error
		for next := range pieces {
			if wait := time.Until(next.due); wait > 0 {
				time.Sleep(wait)
			}
			p.gate.RLock()
			if err == nil {
				_, err = to.Write(next.data)
			}
			p.gate.RUnlock()
		}
		failed <- err
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			due := time.Now().Add(time.Duration(p.delay.Load()))
			pieces <- piece{data: append([]byte(nil), buffer[:n]...), due: due}
		}
		if err != nil {
			close(pieces)
			return <-failed
		}
	}
}

func (p *Proxy) track(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		p.conns[conn] = struct{}{}
	}
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		delete(p.conns, conn)
	}
}
