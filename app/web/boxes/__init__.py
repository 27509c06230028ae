"""What boxes ask of the service, on a port of its own."""
