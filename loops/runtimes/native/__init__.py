"""Our own agent (k8s/native), for teams that have only an endpoint."""
