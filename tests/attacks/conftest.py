"""The web process under attack."""

from tests.app.conftest import app, box, http, settings, shared

__all__ = ["app", "box", "http", "settings", "shared"]
