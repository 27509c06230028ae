"""A small Kubernetes: an API server, its controllers, and a kubelet that runs pods as local processes.

Boxes and the chart meet the same requests, refusals, watches and deletions in it as on a cluster. It keeps everything
in memory. `tests/k8s/apiserver` holds it against a real API server.
"""
