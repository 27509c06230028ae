"""What a job must not show is `***` wherever it is read: log, annotations and summary."""

import base64

from tests.github.emulator.actions.test_engine import log_of
from tests.github.emulator.actions.test_honest import token as token
from tests.github.emulator.actions.test_identity import pushed
from tests.github.emulator.house import REPO, House

SHOWING = """on: push
jobs:
  a:
    runs-on: ubuntu-latest
    env: {TOKEN: "${{ secrets.GITHUB_TOKEN }}"}
    steps:
      - uses: actions/checkout@v4
      - run: |
          echo "it is $TOKEN, again ${{ github.token }}"
          echo "##$TOKEN##"
          git config --get-regexp extraheader
          echo "::warning title=of $TOKEN::see $TOKEN"
          echo "a summary of $TOKEN" >> "$GITHUB_STEP_SUMMARY"
          echo "size ${#TOKEN}"
      - run: |
          echo "::add-mask::first line%0Asecond line"
          echo "the second line, and the first line"
"""


async def test_the_token_of_a_job_is_shown_nowhere(house: House, token: str) -> None:
    _, [only] = await pushed(house, token, SHOWING)
    log = await log_of(house, token, only["id"])
    [row] = [each for each in house.local.store.jobs if each.id == only["id"]]
    tokens = [
        each.token for each in house.local.store.tokens.values() if each.installation.app.slug == "github-actions"
    ]
    assert len(max(tokens, key=len)) > 200
    assert f"size {len(tokens[-1])}" in log
    notes = (await house.ask("GET", f"{REPO}/check-runs/{only['id']}/annotations", token)).text
    for secret in tokens:
        for form in (secret, base64.b64encode(f"x-access-token:{secret}".encode()).decode()):
            assert form not in log + notes + row.summary
    for line in ("it is ***, again ***", "##***##", "AUTHORIZATION: basic ***", "  TOKEN: ***", "  token: ***"):
        assert f"{line}\n" in log
    assert "see ***" in notes and "of ***" in notes
    assert row.summary == "a summary of ***\n"


async def test_each_line_of_what_a_step_masks_is_hidden(house: House, token: str) -> None:
    _, [only] = await pushed(house, token, SHOWING)
    assert "Z the ***, and the ***\n" in await log_of(house, token, only["id"])
