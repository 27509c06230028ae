"""Chunks of bytes in, blocks of whole lines out, in bounded memory."""

from collections.abc import Iterable, Iterator

BLOCK = 512 * 1024
KEEP = 16 * 1024  # of a line longer than a block, this much of its head and of its tail
CUT = b" [... the middle of this line is left out ...] "


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks that end in a newline (the last one gets one if it had none).

    A line of more than two blocks keeps its first and last 16 kB; a mark stands for the middle.
    """
    pending: list[bytes] = []
    size = 0
    for chunk in _sliced(chunks):
        cut = chunk.rfind(b"\n") + 1
        if cut and size + len(chunk) >= BLOCK:
            yield b"".join((*pending, chunk[:cut]))
            pending, size = [chunk[cut:]], len(chunk) - cut
            continue
        pending.append(chunk)
        size += len(chunk)
        if size > 2 * BLOCK:
            yield from _squeeze(pending)
            size = sum(map(len, pending))
    rest = b"".join(pending)
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _sliced(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if len(chunk) <= BLOCK:
            yield chunk
            continue
        view = memoryview(chunk)
        for at in range(0, len(chunk), BLOCK):
            yield bytes(view[at : at + BLOCK])


def _squeeze(pending: list[bytes]) -> Iterator[bytes]:
    """Yield what is whole in `pending`, and shorten the endless line that is left in it."""
    text = b"".join(pending)
    cut = text.rfind(b"\n") + 1
    if cut:
        yield text[:cut]
    line = text[cut:]
    pending[:] = [line[:KEEP] + CUT + line[-KEEP:] if len(line) > 3 * KEEP else line]
