"""A gidgethub app that thanks for issues. Its task is JSON in $TASK; it prints its port, then serves until ended."""

import asyncio
import json
import os

import aiohttp
from aiohttp import web
from gidgethub import ValidationFailure, routing, sansio
from gidgethub.aiohttp import GitHubAPI
from gidgethub.apps import get_installation_access_token

task = json.loads(os.environ["TASK"])
router = routing.Router()


@router.register("issues", action="opened")
async def thank(event: sansio.Event) -> None:
    async with aiohttp.ClientSession() as session:
        hub = GitHubAPI(session, "newcomer", base_url=task["api"])
        minted = await get_installation_access_token(
            hub,
            installation_id=str(event.data["installation"]["id"]),
            app_id=str(task["app"]["id"]),
            private_key=task["app"]["key"],
        )
        body = f"Thanks, says gidgethub of {event.data['repository']['name']}"
        await hub.post(event.data["issue"]["comments_url"], data={"body": body}, oauth_token=minted["token"])


async def hook(request: web.Request) -> web.Response:
    try:
        event = sansio.Event.from_http(request.headers, await request.read(), secret=task["secret"])
    except ValidationFailure:
        return web.Response(status=400)
    await router.dispatch(event)
    return web.Response(status=200)


async def main() -> None:
    app = web.Application()
    app.router.add_post("/hook", hook)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
