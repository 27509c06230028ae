"""What is stored: kinds, versions, changes, selectors, patches, and the refusals as Kubernetes words them."""
