// Package plantest helps to test what is built on plans: builders for sets, nodes and pods
// that read well in a table, and golden files.
//
//	v1 := plantest.Set("demo/agent", plantest.Image("registry.example/agent:v1"))
//	v2 := plantest.Set("demo/agent", plantest.Image("registry.example/agent:v2"))
//	s := plantest.Snapshot(v2, v1, v2,
//		plantest.Node("a"), plantest.Node("b", plantest.Taint("dedicated=gpu:NoSchedule")),
//		plantest.Pod(v1, "a"), plantest.Pod(v2, "b", plantest.Starting()))
//	plantest.Golden(t, "testdata/update.txt", plantest.Compute(t, s))
//
// What the builders make is what an API server would hold: UIDs, owner references, revisions
// and hashes fit together. They panic on arguments that make no sense, which are mistakes in
// the test. It is for tests only.
package plantest
