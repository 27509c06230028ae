"""What GitHub is: signatures, events, mentions, tokens, checks, logs, publishing; and the local GitHub."""
