"""The patch of a turn that was cut short, to be downloaded."""

import zlib

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from app.web.pages.sessions import missing, visible
from app.web.state import app_state
from loops.store.tables import Turn
from loops.store.work_tables import UnfinishedWork


async def patch(request: Request) -> Response:
    """GET /sessions/{session}/turns/{number}/patch: what `git apply` takes, for whoever may see the session."""
    async with app_state(request).database.read() as tx:
        session = await visible(tx, request)
        if session is None:
            return missing(request)
        number = int(request.path_params["number"])
        found = await tx.execute(
            select(UnfinishedWork)
            .join(Turn, Turn.id == UnfinishedWork.turn_id)
            .where(Turn.session_id == session.id, Turn.number == number)
        )
        work = found.scalar_one_or_none()
    if work is None:
        return missing(request)
    name = f"{session.public_id}-{number}.patch"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(zlib.decompress(work.patch), media_type="text/x-diff", headers=headers)
