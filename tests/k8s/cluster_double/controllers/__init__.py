"""What makes pods of Deployments, StatefulSets and Jobs."""
