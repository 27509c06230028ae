"""Where turns run: boxes on Kubernetes, local boxes, the runner, images."""
