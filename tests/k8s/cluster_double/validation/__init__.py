"""What the API server checks of an object before it stores it: shape, then names, values and what may not change.

The words are Kubernetes' own (pkg/apis/*/validation and apimachinery's util/validation, 1.36): `tests/k8s/apiserver`
has a row for each rule, and holds the double and a real API server to the same answer. What is not here is taken.
"""
