package controlplane

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// grantStock gives the stock controller what Kubernetes itself gives it: the role of the
// controller, and that of the program that it is part of.
func (p *Plane) grantStock(ctx context.Context) error {
	for _, role := range []string{"system:controller:daemon-set-controller", "system:kube-controller-manager"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "e2e:" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: StockController().Name}},
		}
		if _, err := p.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("rights of the stock controller: %w", err)
		}
	}
	return nil
}
