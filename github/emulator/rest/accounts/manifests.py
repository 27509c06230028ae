"""The exchange at the end of the manifest flow."""

from github.emulator.acts import manifests as acts
from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.errors import not_found
from github.emulator.views import apps as views


def convert(call: Call) -> Answer:
    """The new App with its secrets, said this once."""
    app = acts.converted(call.forge, call.params["code"])
    if app is None:
        raise not_found()
    body = views.app(call.store, app) | {
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "webhook_secret": app.webhook_secret if app.hook.active else None,
        "pem": app.private_key,
    }
    return Answer(201, body)


ROUTES = [Route("POST", "/app-manifests/{code}/conversions", convert, "none")]
