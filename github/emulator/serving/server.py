"""The web application of the first origin: API, git, control, pages."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from github.emulator import attachments
from github.emulator.api.pipeline import Pipeline
from github.emulator.githttp.lfs import Lfs
from github.emulator.githttp.server import GitHttp
from github.emulator.hub import Hub
from github.emulator.pages.apps import AppPages
from github.emulator.pages.authorize import AuthorizePages
from github.emulator.pages.faults import FaultPages
from github.emulator.pages.site import Site
from github.emulator.rest.table import table


class _GitTail(Convertor[str]):
    """What git asks of a repository over HTTP."""

    regex = "info/refs|git-upload-pack|git-receive-pack"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("git", _GitTail())

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


def application(hub: Hub, control: Sequence[Route]) -> Starlette:
    """Everything a client, git or a browser can ask of the web host."""
    pipeline = Pipeline(hub, table())
    git = GitHttp(hub)

    async def push_question(request: Request) -> Response:
        body = await request.json()
        return git.judge(request.path_params["push"], body["updates"])

    def upload(request: Request) -> Response:
        return attachments.serve(hub, request)

    routes = [
        Route("/_local/pushes/{push}", push_question, methods=["POST"]),
        *control,
        Route("/{owner}/{repo}/info/lfs/objects/batch", Lfs(hub, git).batch, methods=["POST"]),
        Route("/{owner}/{repo}/info/lfs/verify", Lfs(hub, git).verify, methods=["POST"]),
        Route("/{owner}/{repo}/{tail:git}", git.serve, methods=["GET", "POST"]),
        Route("/private-user-images/{name:uuid}", upload, methods=["GET"]),
        *Site(hub).routes(),
        *AppPages(hub).routes(),
        *AuthorizePages(hub).routes(),
        *FaultPages(hub).routes(),
        Route("/{path:path}", pipeline.answer, methods=METHODS),
    ]
    return Starlette(routes=routes)
