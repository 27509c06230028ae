"""Which places answer, by either protocol. It stands alone, since its text is what a box on trial runs."""

import concurrent.futures
import http.client
import json
import socket
import sys
import time

FAMILIES = (socket.AF_INET, socket.AF_INET6)
SECONDS = 4
ADDRESSES = 4
"""How many addresses of one name are tried."""
WORDS = 30
"""So long a reason may be: what a container says at its end is cut off behind two thousand bytes."""


def answers(place: str, family: socket.AddressFamily) -> str | None:
    """Empty where `host:port` takes a connection by this protocol, else why not; None where it has no such address."""
    host, _, port = place.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), family, socket.SOCK_STREAM)
    except OSError:
        return None
    why = ""
    for *_, address in found[:ADDRESSES]:
        try:
            socket.create_connection((str(address[0]), int(port)), SECONDS).close()
        except OSError as error:
            why = (error.strerror or str(error) or type(error).__name__)[:WORDS]
        else:
            return ""
    return why


def status(place: str, path: str) -> int:
    """What a GET by plain HTTP is answered with; 0 where there is no answer."""
    host, _, port = place.rpartition(":")
    try:
        connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=SECONDS)
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0


def main(argument: str) -> str:
    """`argument`: the places, a path of the first one that is asked for (or empty), and seconds to wait; in JSON.

    The answer, in JSON too: the status, and of each place what each protocol came to.
    """
    places, path, settle = json.loads(argument)
    time.sleep(settle)
    with concurrent.futures.ThreadPoolExecutor(len(places) * len(FAMILIES)) as pool:
        tried = [[pool.submit(answers, place, family) for family in FAMILIES] for place in places]
        told = [[each.result() for each in of_one] for of_one in tried]
    return json.dumps([status(places[0], path) if path else 0, told])


if __name__ == "__main__":
    # A failure, so that its last words come into the pod's status: no right to read logs is needed.
    sys.exit("\n" + main(sys.argv[1]))
