"""The excerpt as text: a short head, then numbered lines with gaps and counts, never over budget."""

from collections.abc import Sequence

from loops.evidence.judging.choose import Chosen, clip
from loops.evidence.judging.score import Scored
from loops.evidence.text.clean import Lines

SMALL = 400  # bytes


def body(lines: Lines, scored: Scored, chosen: Chosen) -> list[str]:
    """One string a line: `number| text`, and a line for each gap that says how much it leaves out."""
    out: list[str] = []
    last = 0
    for i in chosen.shown:
        number = lines.numbers[i]
        left_out = number - last - 1
        if left_out > 0 and out:
            out.append(f"  ... {left_out} line{'s' if left_out > 1 else ''} ...")
        times = chosen.times.get(i, 1)
        more = f"  [x{times}]" if times > 2 else ""
        out.append(f"{number}| {clip(lines.texts[i], scored.points[i])}{more}")
        last = number
    return out


def within(lines: Sequence[str], room: int) -> list[str]:
    """The first lines that take at most `room` bytes together."""
    kept: list[str] = []
    for line in lines:
        room -= len(line.encode(errors="replace")) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def fitted(parts: Sequence[str], budget: int) -> str:
    """Join lines into valid UTF-8 of at most `budget` bytes; what does not fit is cut from the middle, of very little
    from the end."""
    text = "".join(f"{part}\n" for part in parts)
    raw = text.encode(errors="replace")
    if len(raw) <= budget:
        return raw.decode()
    mark = b"  ... cut to fit ...\n"
    if budget <= SMALL:
        return raw[: max(budget, 0)].decode(errors="ignore")
    room = budget - len(mark)
    head, tail = raw[: room // 2], raw[len(raw) - (room - room // 2) :]
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    return head.decode(errors="ignore") + mark.decode() + tail.decode(errors="ignore")


def ranges(numbers: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Inclusive ranges of ascending numbers."""
    out: list[tuple[int, int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1] = (out[-1][0], number)
        else:
            out.append((number, number))
    return tuple(out)
