"""The session's page in a real browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect
from sqlalchemy import update

from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from loops.store.tables import Session
from tests.app.serving import serving
from tests.app.web.pages.seeding import EVIL, happen, seed
from tests.tools import need


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=need("chromium"), args=["--no-sandbox"])
        yield await browser.new_page(viewport={"width": 390, "height": 800})
        await browser.close()


async def test_a_person_watches_a_session_live_on_a_phone_and_nothing_runs_that_is_not_ours(
    page: Page, tmp_path: Path, sqlite_url: str, redis_url: str
) -> None:
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on("console", lambda message: broken.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: broken.append(dialog.message))
    settings = Settings(data=tmp_path, database_url=sqlite_url, redis_url=redis_url, webhook_secrets="s")
    app = create_app(settings)
    shared: AppState = app.state.shared
    async with serving(app) as url:
        session_id = await seed(shared, title=EVIL, diff=f"+{EVIL}")
        await happen(shared, session_id, ("assistant_delta", {"text": f"before {EVIL} ", "message_id": EVIL}))
        await page.goto(f"{url}/sessions/s_1")
        blocks = page.locator("#log .block")
        await expect(page.locator("#live")).to_be_visible()
        await happen(shared, session_id, ("assistant_delta", {"text": f"{EVIL} after", "message_id": EVIL}))
        await expect(blocks).to_have_count(1)
        await expect(blocks.first).to_contain_text(f"before {EVIL} {EVIL} after")
        await happen(shared, session_id, ("assistant_completed", {"text": "The whole.", "message_id": EVIL}))
        await expect(blocks).to_have_count(1)
        await expect(blocks.first).to_contain_text("The whole.")
        async with shared.database.write() as tx:
            await tx.execute(update(Session).values(status="completed", outcome="green"))
        shared.bus.notify(f"session:{session_id}")
        await expect(page.locator(".state.good")).to_have_text("Green")
        await expect(page.locator("#live")).to_be_hidden()
        assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        await page.goto(url)
    assert broken == []
