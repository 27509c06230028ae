"""How a REST call is taken: route, caller, permission, answer, headers."""
