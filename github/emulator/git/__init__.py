"""The repositories themselves: real git on bare repositories."""
