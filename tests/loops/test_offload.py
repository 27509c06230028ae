"""Heavy passes in processes of their own: what does not end as it should is withheld, at nobody else's cost."""

import asyncio
import os
import time

import pytest

from loops.offload import Offload, Withheld
from loops.secrets.redact import MASK, Redactor


def here() -> int:
    return os.getpid()


def dying() -> None:
    os._exit(3)


def failing(text: str) -> None:
    raise ValueError(text)


async def test_a_pass_runs_in_another_process_which_is_used_again() -> None:
    offload = Offload()
    first = await offload.run(1, here)
    assert first != os.getpid()
    assert await offload.run(2, here) == first


async def test_a_redactor_knows_its_secrets_there_too() -> None:
    redactor = Redactor(["correct horse battery"])
    assert await Offload().run(1, redactor.text, "a correct horse battery!") == f"a {MASK}!"


async def test_what_passes_its_deadline_is_withheld_and_its_process_ended() -> None:
    offload = Offload(processes=1, seconds=5.0)
    first = await offload.run(1, here)
    with pytest.raises(Withheld, match="within 5 s"):
        await offload.run(1, time.sleep, 600)
    assert await offload.run(1, here) != first


async def test_what_takes_its_process_down_is_withheld() -> None:
    offload = Offload(processes=1)
    with pytest.raises(Withheld, match="took a process down"):
        await offload.run(1, dying)
    assert await offload.run(1, here)


async def test_what_fails_is_withheld_by_its_kind_without_its_words() -> None:
    with pytest.raises(Withheld, match="failed with ValueError") as caught:
        await Offload().run(1, failing, "a secret of somebody")
    assert "somebody" not in str(caught.value)


async def test_one_installation_leaves_a_process_to_the_others() -> None:
    offload = Offload(processes=2, seconds=600)
    greedy = [asyncio.ensure_future(offload.run(1, time.sleep, 600)) for _ in range(4)]
    await asyncio.sleep(0)
    await asyncio.wait_for(offload.run(2, here), 120)
    assert not any(each.done() for each in greedy)
    for each in greedy:
        each.cancel()
    await asyncio.gather(*greedy, return_exceptions=True)
