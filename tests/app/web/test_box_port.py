"""Boxes have a port of their own: what they may ask is answered there, and nowhere else."""

import httpx
import pytest
from starlette.routing import Route

from app.settings import Settings
from app.web.app import create_app
from app.web.boxes import port
from app.web.state import AppState
from tests.app.boxside import TOKEN, ask, seed
from tests.app.serving import serving_both

SHARED = {"/healthz", "/readyz"}
OF_BOXES = sorted(
    (method, route.path)
    for route in port.routes()
    if isinstance(route, Route) and route.path not in SHARED
    for method in (route.methods or {"GET"}) - {"HEAD"}
)


@pytest.mark.parametrize(("method", "path"), OF_BOXES)
async def test_the_public_port_knows_nothing_of_what_boxes_ask(
    http: httpx.AsyncClient, shared: AppState, method: str, path: str
) -> None:
    await seed(shared)
    path = path.replace("{box}", "ann").replace("{turn}", "t_1").replace("{name:path}", "x").replace("{sha}", "1" * 40)
    answer = await http.request(method, path, headers={"authorization": f"Bearer {TOKEN}"}, json=ask())
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/", "/webhooks/github", "/api/v1/sessions", "/mcp", "/metrics", "/signin"])
async def test_the_port_of_boxes_serves_boxes_alone(box: httpx.AsyncClient, path: str) -> None:
    assert (await box.get("/healthz")).status_code == 200
    assert (await box.get(path)).status_code == 404
    assert (await box.post(path)).status_code == 404


async def test_one_process_serves_both_ports_and_closes_both_at_its_end(settings: Settings) -> None:
    async with serving_both(create_app(settings)) as served, httpx.AsyncClient() as http:
        assert (await http.post(f"{served.boxes}/boxes/ann/next")).status_code == 401
        assert (await http.post(f"{served.url}/boxes/ann/next")).status_code == 404
    async with httpx.AsyncClient() as http:
        for url in (served.url, served.boxes):
            with pytest.raises(httpx.ConnectError):
                await http.get(f"{url}/healthz")


def test_local_boxes_find_the_port_by_themselves_and_others_have_to_be_told() -> None:
    assert Settings(box_port=8091).box_service_url == "http://127.0.0.1:8091"
    assert Settings(boxes="kubernetes", service_url="http://x:1").box_service_url == "http://x:1"
    with pytest.raises(ValueError, match="GREENLOOP_SERVICE_URL is not set"):
        _ = Settings(boxes="kubernetes").box_service_url
