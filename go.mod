module github.com/daemonplan/daemonplan

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/stretchr/testify v1.12.1
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
)
