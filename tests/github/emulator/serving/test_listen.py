"""How the local GitHub listens."""

import socket

from github.emulator.serving.listen import bound


def test_small_answers_are_not_held_back_by_nagles_algorithm() -> None:
    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname(), timeout=10):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
