"""From a pod that is pending to its end: nodes, volumes, containers as processes, probes."""
