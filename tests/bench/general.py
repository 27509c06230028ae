"""`python -m tests.bench.general < LOG`: the excerpt by the general method alone, as of a tool that nobody has met."""

import sys

from loops.evidence import distill
from loops.evidence.recognise.match import TABLE

if __name__ == "__main__":
    print(distill([sys.stdin.buffer.read()], without=frozenset(shape.tool for shape in TABLE)).excerpt, end="")
