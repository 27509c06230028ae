"""Others are told of sessions: signed webhooks of our own (Standard Webhooks), and messages for a chat."""
