package fake_test

import "k8s.io/apimachinery/pkg/types"

func nn(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
