"""The surface: TLS, tokens and roles, discovery, verbs, lists and watches."""
