"""`greenloop session`: sessions from a shell, at a server's API or on the service's own database."""
