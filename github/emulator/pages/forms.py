"""Fields of forms."""

from urllib.parse import parse_qsl

from starlette.requests import Request


async def fields(request: Request, only_from: str | None = None) -> dict[str, str]:
    """The fields a form sent; none of another origin's form where `only_from` names the one that may send it."""
    if only_from is not None and request.headers.get("origin", only_from) != only_from:
        return {}
    return dict(parse_qsl((await request.body()).decode(errors="replace"), keep_blank_values=True))
