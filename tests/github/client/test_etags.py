from github.client.etags import MAX_BODY, Etags, Kept


def kept(text: str = "x", etag: str = '"1"') -> Kept:
    return Kept(etag, text.encode(), "")


def test_the_least_recently_used_answer_goes_first() -> None:
    store = Etags(max_entries=2)
    store.put(("5", "a"), kept("a"))
    store.put(("5", "b"), kept("b"))
    assert store.get(("5", "a")) == kept("a")
    store.put(("5", "c"), kept("c"))
    assert store.get(("5", "b")) is None
    assert store.get(("5", "a")) == kept("a")


def test_an_answer_is_kept_for_the_installation_that_asked() -> None:
    store = Etags()
    store.put(("5", "a"), kept())
    assert store.get(("6", "a")) is None


def test_large_answers_and_those_without_an_etag_are_not_kept() -> None:
    store = Etags()
    store.put(("5", "a"), kept())
    store.put(("5", "a"), kept("x" * (MAX_BODY + 1)))
    assert store.get(("5", "a")) is None
    store.put(("5", "b"), kept(etag=""))
    assert store.get(("5", "b")) is None
