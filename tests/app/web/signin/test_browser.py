"""Signing in with a real browser, at the local GitHub's own pages."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect
from sqlalchemy import update

from app.web.app import create_app
from app.web.pages import live
from github.emulator import LocalGitHub
from loops.store.tables import Session
from tests.app.serving import serving
from tests.app.web.pages.seeding import happen, seed
from tests.app.web.signin.conftest import options
from tests.tools import need


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=need("chromium"), args=["--no-sandbox"])
        yield await browser.new_page()
        await browser.close()


async def test_a_person_signs_in_watches_and_signs_out(
    page: Page,
    local: LocalGitHub,
    tmp_path: Path,
    sqlite_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "RECHECK", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    public = f"http://127.0.0.1:{port}"
    local.set_callback(f"{public}/signin/callback")
    app = create_app(options(local, tmp_path, sqlite_url, redis_url, public_url=public))
    shared = app.state.shared
    async with serving(app, port):
        session_id = await seed(shared)
        async with shared.database.write() as tx:
            await tx.execute(update(Session).values(repository_id=local.repository("acme/widgets").id))
        await page.goto(f"{public}/sessions/s_1")
        await expect(page.locator("h1")).to_have_text("Authorize greenloop")
        await page.locator("select[name=user]").select_option("bob")
        await page.get_by_role("button", name="Authorize").click()
        await expect(page).to_have_url(f"{public}/sessions/s_1")
        await expect(page.locator(".who")).to_contain_text("bob")
        await expect(page.locator("#live")).to_be_visible()
        async with page.expect_request(lambda request: request.url.endswith("/events?after=0")):
            pass  # the stream ended after a while, and the browser came again by itself
        await happen(shared, session_id, ("status", {"text": "still watching"}))
        await expect(page.locator("#log")).to_contain_text("still watching")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.locator("h1")).to_have_text("Signed out")
        await page.goto(public)
        await expect(page.locator("h1")).to_have_text("Authorize greenloop")
