package e2e_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
)

func refusalScenarios() []scenario {
	return []scenario{
		{
			name: "quota", why: "a quota lets as many pods through as it has room for, and the rest once it is raised", nodes: 4,
			run: func(s *scene) {
				quota := &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Name: "pods"},
					Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
				}
				_, err := s.client.CoreV1().ResourceQuotas(s.ns).Create(s.ctx, quota, metav1.CreateOptions{})
				require.NoError(s.t, err)
				s.eventually("the quota is in force", func() (bool, string) {
					now, err := s.client.CoreV1().ResourceQuotas(s.ns).Get(s.ctx, "pods", metav1.GetOptions{})
					return err == nil && len(now.Status.Hard) > 0, ""
				})
				s.create()
				s.reaches(status{desired: 4, current: 2, ready: 2, updated: 2, available: 2, unavailable: 2})
				require.NoError(s.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
					now, err := s.client.CoreV1().ResourceQuotas(s.ns).Get(s.ctx, "pods", metav1.GetOptions{})
					if err != nil {
						return err
					}
					now.Spec.Hard[corev1.ResourcePods] = resource.MustParse("10")
					_, err = s.client.CoreV1().ResourceQuotas(s.ns).Update(s.ctx, now, metav1.UpdateOptions{})
					return err
				}))
				s.reaches(settled(4))
			},
		},
		{
			name: "pod-security", why: "pods that the namespace's standard forbids are refused, and come once it allows them", nodes: 2,
			run: func(s *scene) {
				_, err := s.plane.Kubectl(s.ctx, "label", "namespace", s.ns, "pod-security.kubernetes.io/enforce=baseline")
				require.NoError(s.t, err)
				s.create(func(set *appsv1.DaemonSet) { set.Spec.Template.Spec.HostNetwork = true })
				s.reaches(status{desired: 2, unavailable: 2})
				s.quiet()
				s.reaches(status{desired: 2, unavailable: 2})
				_, err = s.plane.Kubectl(s.ctx, "label", "namespace", s.ns, "pod-security.kubernetes.io/enforce-")
				require.NoError(s.t, err)
				s.reaches(settled(2))
			},
		},
		{
			name: "admission-policy", why: "an update that an admission policy refuses costs no more pods than its budget", nodes: 4,
			run: func(s *scene) {
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)))
				s.reaches(settled(4))
				s.refuse("v2")
				before := s.uids()
				s.change(image("v2"))
				s.reaches(status{desired: 4, current: 3, ready: 3, available: 3, unavailable: 1})
				s.quiet()
				s.reaches(status{desired: 4, current: 3, ready: 3, available: 3, unavailable: 1})
				assert.Equal(s.t, 3, same(before, s.uids()))
				s.change(image("v3"))
				s.reaches(settled(4))
			},
		},
	}
}

// refuse has the API server refuse the scene's pods of a version, and returns when it does.
func (s *scene) refuse(version string) {
	s.t.Helper()
	match := &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.ns}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}}},
	}
	api := s.client.AdmissionregistrationV1()
	_, err := api.ValidatingAdmissionPolicies().Create(s.ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.ns},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: match,
			Validations: []admissionv1.Validation{{
				Expression: "object.spec.containers.all(c, !c.image.endsWith(':" + version + "'))",
				Message:    "this version is not allowed",
			}},
		},
	}, metav1.CreateOptions{})
	require.NoError(s.t, err)
	_, err = api.ValidatingAdmissionPolicyBindings().Create(s.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.ns},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: s.ns, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}, metav1.CreateOptions{})
	require.NoError(s.t, err)
	probe := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/agent:" + version}}},
	}
	s.eventually("the policy is in force", func() (bool, string) {
		_, err := s.client.CoreV1().Pods(s.ns).Create(s.ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, ""
	})
}
