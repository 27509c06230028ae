"""Network policies, services and ingresses."""
