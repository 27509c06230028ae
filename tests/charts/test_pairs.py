import itertools

from tests.charts.pairs import AXES, combinations


def test_every_two_choices_meet_in_some_combination() -> None:
    found = list(combinations())
    for (one, ones), (two, twos) in itertools.combinations(AXES.items(), 2):
        for first, second in itertools.product(ones, twos):
            assert any(f"{one} {first}" in name and f"{two} {second}" in name for name in found)
