"""The demo: the whole loop on a local GitHub, with its own small repository and agent or with other people's."""
