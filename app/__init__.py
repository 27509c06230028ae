"""The service: HTTP surfaces, process wiring, command line, pages."""
