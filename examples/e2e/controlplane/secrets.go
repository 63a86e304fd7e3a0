package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// User is who a client is to the API server.
type User struct {
	Name   string
	Groups []string
}

// Admin may do everything.
func Admin() User { return User{Name: "admin", Groups: []string{"system:masters"}} }

// ServiceAccount is the user that a pod with this service account is, so that the RBAC
// rules of a manifest hold for it.
func ServiceAccount(namespace, name string) User {
	return User{
		Name:   "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}
}

// StockController is the user of a kube-controller-manager that runs beside the plane's own
// one, with the rights that the stock DaemonSet controller has.
func StockController() User { return User{Name: "stock-daemonset-controller"} }

// secrets are the files that prove who is who.
type secrets struct {
	folder string
	tokens map[string]string // by user
}

func newSecrets(folder string, users []User) (*secrets, error) {
	s := &secrets{folder: folder, tokens: map[string]string{}}
	if err := s.writeServingCertificate(); err != nil {
		return nil, err
	}
	if err := s.writeServiceAccountKey(); err != nil {
		return nil, err
	}
	return s, s.writeTokens(users)
}

func (s *secrets) file(name string) string { return filepath.Join(s.folder, name) }

// writeServingCertificate writes apiserver.crt, which holds its authority too, and
// apiserver.key.
func (s *secrets) writeServingCertificate() error {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"})
	if err != nil {
		return fmt.Errorf("serving certificate: %w", err)
	}
	if err := os.WriteFile(s.file("apiserver.crt"), certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(s.file("apiserver.key"), key, 0o600)
}

// writeServiceAccountKey writes sa.key, with which service account tokens are signed and
// verified.
func (s *secrets) writeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	data := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return os.WriteFile(s.file("sa.key"), data, 0o600)
}

// writeTokens writes tokens.csv, which the API server reads once, at its start.
func (s *secrets) writeTokens(users []User) error {
	var lines strings.Builder
	for i, user := range users {
		raw := make([]byte, 16)
		_, _ = rand.Read(raw) // never fails
		token := hex.EncodeToString(raw)
		s.tokens[user.Name] = token
		fmt.Fprintf(&lines, "%s,%s,uid-%d,%q\n", token, user.Name, i, strings.Join(user.Groups, ","))
	}
	return os.WriteFile(s.file("tokens.csv"), []byte(lines.String()), 0o600)
}

// kubeconfig is the configuration of a client of a server.
func (s *secrets) kubeconfig(user User, server string) (*clientcmdapi.Config, error) {
	token, ok := s.tokens[user.Name]
	if !ok {
		return nil, fmt.Errorf("the control plane was started without the user %q", user.Name)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: s.file("apiserver.crt")}
	config.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	config.CurrentContext = "e2e"
	return config, nil
}
