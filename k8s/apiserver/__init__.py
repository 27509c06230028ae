"""A small Kubernetes API server with a kubelet that runs pods as local processes.

For the demo and the tests: boxes meet the same requests, refusals, watches and deletions as on a cluster. It keeps
everything in memory and is no place for production.
"""
