"""The two origins: what answers on them, and the thread that listens."""
