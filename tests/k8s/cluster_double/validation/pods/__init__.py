"""The spec of a pod, part by part."""
