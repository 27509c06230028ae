"""A small agent for the demo: reads its prompt on stdin, works in the current directory, tells on stdout what it does.

It knows one kind of task, a conversion that differs from an existing unit by a constant, and it works as careless
people do: the first version takes a round number. Shown a failing check, it believes the assertion and mends it.
"""

import re
import sys
from pathlib import Path

MODULE = Path("degrees.py")
TESTS = Path("tests/test_degrees.py")

TASK = re.compile(
    r"`(?P<name>(?P<source>[a-z]+)_to_(?P<target>[a-z]+))`.*?(?P<given>-?\d+(?:\.\d+)?) is (?P<wanted>-?\d+(?:\.\d+)?)",
    re.S,
)
ASSERTION = re.compile(r"AssertionError: (?P<got>-?\d+(?:\.\d+)?) != (?P<wanted>-?\d+(?:\.\d+)?)")
CONSTANT = re.compile(r"(?P<before>return \w+ \+ )(?P<value>-?\d+(?:\.\d+)?)\s*$", re.M)


def write_first_version(task: "re.Match[str]") -> None:
    name, source = task["name"], task["source"]
    offset = int(float(task["wanted"]) - float(task["given"]))
    print(f"adding {name} to {MODULE}", flush=True)
    MODULE.write_text(MODULE.read_text() + f"\n\ndef {name}({source}):\n    return {source} + {offset}\n")
    print(f"adding its test to {TESTS}", flush=True)
    test = (
        f"    def test_{name}(self):\n"
        f"        self.assertEqual(degrees.{name}({task['given']}), {task['wanted']})\n\n\n"
        'if __name__ == "__main__":'
    )
    TESTS.write_text(TESTS.read_text().replace('\nif __name__ == "__main__":', test))


def mend(assertion: "re.Match[str]") -> None:
    missing = float(assertion["wanted"]) - float(assertion["got"])
    print(f"the check got {assertion['got']} and wanted {assertion['wanted']}: off by {missing:g}", flush=True)
    text = MODULE.read_text()
    constants = list(CONSTANT.finditer(text))
    if not constants:
        sys.exit("no constant to mend in degrees.py")
    last = constants[-1]
    value = round(float(last["value"]) + missing, 6)
    MODULE.write_text(text[: last.start("value")] + f"{value:g}" + text[last.end("value") :])
    print(f"changed the constant from {last['value']} to {value:g}", flush=True)


def main() -> None:
    prompt = sys.stdin.read()
    assertion = ASSERTION.search(prompt)
    task = TASK.search(prompt)
    if assertion:
        mend(assertion)
    elif task and task["name"] not in MODULE.read_text():
        write_first_version(task)
    else:
        print("nothing to do that this small agent understands")


if __name__ == "__main__":
    main()
