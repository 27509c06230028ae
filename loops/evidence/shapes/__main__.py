"""`python -m loops.evidence.shapes` prints what `required.json` is to hold."""

from loops.evidence.general import WORDS
from loops.evidence.match import PATTERNS
from loops.evidence.required import stored

if __name__ == "__main__":
    print(stored([*PATTERNS, *WORDS]), end="")
