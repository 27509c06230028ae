"""One container as a process of this machine: its real command, environment and folders, ended as a kubelet ends it."""

import asyncio
import base64
import contextlib
import os
import re
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import Any

import k8s.runner
from tests.k8s.cluster_double.kubelet.init import descendants, kill_tree
from tests.k8s.cluster_double.kubelet.isolation import INIT
from tests.k8s.cluster_double.kubelet.mounts import translate
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store

Object = dict[str, Any]

# What the box image has in this place: a plain copy of the runner.
RUNNER_PATH = "/opt/greenloop/runner"
RUNNER_FOLDER = Path(k8s.runner.__file__).parent
PAGE = os.sysconf("SC_PAGE_SIZE")
LAST_WORDS = 2048


@dataclass(frozen=True)
class Programs:
    """What a command of an image is on this machine: the first word, by its name in the image.

    `images` are the entry points of images, by their name without registry and tag; `{address}` in either is the pod's.
    """

    words: Mapping[str, tuple[str, ...]]
    images: Mapping[str, tuple[str, ...]] = dataclass_field(default_factory=dict)

    @classmethod
    def of_this_machine(cls, **more: tuple[str, ...]) -> "Programs":
        python = (sys.executable,)
        return cls({"python3": python, "python": python, **more})

    def argv(self, command: list[str], image: str = "", address: str = "", *, init: bool = False) -> list[str]:
        """The command without its init (we bring one), with the image's programs replaced by ours.

        `init`: with ours in the place of its own.
        """
        name = image.rpartition("/")[2].partition(":")[0].partition("@")[0]
        if init and command and Path(command[0]).name == "tini":
            return [sys.executable, "-I", str(INIT), *self.argv(command, image, address)]
        found = self._argv(command) if command else list(self.images.get(name, ()))
        return [address if word == "{address}" else word for word in found]

    def _argv(self, command: list[str]) -> list[str]:
        if command and Path(command[0]).name == "tini":
            command = command[command.index("--") + 1 :] if "--" in command else command[1:]
        command = [str(RUNNER_FOLDER) if word == RUNNER_PATH else word for word in command]
        return [*self.words.get(command[0], (command[0],)), *command[1:]] if command else []


class Process:
    """A started container. `exit_code` is set once it has ended."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, *, init: bool) -> None:
        self._process = process
        self._log = log
        self._init = init

    @classmethod
    async def start(
        cls, argv: list[str], env: Mapping[str, str], folder: Path, log: Path, *, init: bool = True
    ) -> "Process":
        """Start under an init, or as a sandbox whose first process is to be signalled. Raises OSError when it cannot be
        started."""
        with log.open("ab") as out:
            process = await asyncio.create_subprocess_exec(
                *([sys.executable, "-I", str(INIT)] if init else []),
                *argv,
                cwd=folder,
                env=dict(env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        return cls(process, log, init=init)

    async def wait(self) -> int:
        code = await self._process.wait()
        return code if code >= 0 else 128 - code

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send a signal to the container's first process, as whoever may do anything on its node."""
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self._process.pid if self._init else descendants(self._process.pid)[0], number)

    async def kill(self) -> None:
        """End everything in the container at once."""
        if self._process.returncode is not None:
            return
        await asyncio.to_thread(kill_tree, self._process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def memory(self) -> int:
        """Resident bytes of all processes in the container."""
        total = 0
        for pid in descendants(self._process.pid):
            with contextlib.suppress(OSError, ValueError, IndexError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        return total

    def last_words(self) -> str:
        with contextlib.suppress(OSError):
            return self._log.read_bytes()[-LAST_WORDS:].decode(errors="replace")
        return ""


def environment(store: Store, pod: Object, container: Object, paths: Mapping[str, str]) -> dict[str, str]:
    """The container's environment, with these paths of it translated. Raises KeyError for a missing source."""
    namespace = pod["metadata"]["namespace"]
    env: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            if field in source:
                env |= _values(store, kind, namespace, source[field]["name"])
    for item in container.get("env") or []:
        if "value" in item:
            env[item["name"]] = _expanded(item["value"], env)
            continue
        source = item.get("valueFrom") or {}
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            if field in source:
                env[item["name"]] = _values(store, kind, namespace, source[field]["name"])[source[field]["key"]]
        if source.get("fieldRef", {}).get("fieldPath") == "metadata.name":
            env[item["name"]] = pod["metadata"]["name"]
        if source.get("fieldRef", {}).get("fieldPath") == "metadata.namespace":
            env[item["name"]] = namespace
    translated = {name: translate(value, paths) for name, value in env.items()}
    image = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
    if "/tmp" in paths:
        image["TMPDIR"] = paths["/tmp"]
    return image | translated


def _expanded(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` becomes the value of a variable set before; of an unknown one, or written as `$$(NAME)`, it stays."""
    return re.sub(r"\$(\$\([^)]*\))|\$\(([^)]*)\)", lambda found: found[1] or env.get(found[2], found[0]), text)


def _values(store: Store, kind: str, namespace: str, name: str) -> dict[str, str]:
    found = store.find(BY_KIND[kind], namespace, name)
    if found is None:
        raise KeyError(f'{kind.lower()} "{name}" not found')
    data = found.get("data") or {}
    if kind == "Secret":
        return {key: base64.b64decode(value).decode() for key, value in data.items()}
    return dict(data)
