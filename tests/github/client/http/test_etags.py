import os

from github.client.http.etags import MAX_BODY, Etags, Kept

MINE, THEIRS = "token ghs_mine", "token ghs_theirs"


def kept(body: bytes = b"x", authorization: str = MINE) -> Kept:
    return Kept.of(authorization, 200, '"1"', "", body, 1.0)


def test_what_is_kept_comes_back_as_it_was() -> None:
    store = Etags()
    store.put("a", kept(b"[1, 2]"))
    found = store.get("a", MINE)
    assert found is not None
    assert (found.body, found.etag, found.status) == (b"[1, 2]", '"1"', 200)


def test_the_least_recently_used_answer_goes_first() -> None:
    bodies = [os.urandom(1000) for _ in range(3)]
    store = Etags(max_bytes=2500)
    store.put("a", kept(bodies[0]))
    store.put("b", kept(bodies[1]))
    assert store.get("a", MINE)
    store.put("c", kept(bodies[2]))
    assert store.get("b", MINE) is None
    assert store.get("a", MINE) and store.get("c", MINE)


def test_an_answer_to_another_token_is_none_and_gives_way() -> None:
    store = Etags()
    store.put("a", kept(authorization=THEIRS))
    assert store.get("a", MINE) is None
    store.put("a", kept())
    assert store.get("a", MINE) and store.get("a", THEIRS) is None


def test_no_token_stands_in_what_is_kept() -> None:
    assert "mine" not in repr(kept(authorization=MINE))


def test_the_polls_of_a_thousand_waiting_sessions_are_kept() -> None:
    store, body = Etags(), b'{"total_count": 1, "check_runs": [' + b'{"status": "in_progress"},' * 400 + b"]}"
    for number in range(7000):
        store.put(f"{number}", kept(body))
    assert all(store.get(f"{number}", MINE) for number in range(7000))


def test_what_is_large_even_when_compressed_is_not_kept() -> None:
    store = Etags()
    store.put("a", kept())
    store.put("a", kept(os.urandom(MAX_BODY + 1)))
    assert store.get("a", MINE) is None
