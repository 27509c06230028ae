"""A pod's volumes as folders of this machine, and the container's paths translated to them."""

import base64
import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.k8s.cluster_double.kubelet.claims import claim_of
from tests.k8s.cluster_double.kubelet.isolation import Mount
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store

Object = dict[str, Any]

FROM_OBJECTS = {"secret", "configMap", "projected"}


class NotMountable(Exception):
    """A volume's source is missing; the kubelet tries again, the container stays in ContainerCreating."""


@dataclass(frozen=True)
class Volumes:
    """The volumes of one pod under `folder`; homes of claims live in `claims` and outlive the pod.

    `owned`: they are root's, as on a cluster, and of the pod's fsGroup; else all is ours.
    """

    store: Store
    folder: Path
    claims: Path
    owned: bool = False

    def prepare(self, pod: Object) -> dict[str, Path]:
        """The folder of each volume by name, filled. Raises NotMountable; safe to call again."""
        volumes = {volume["name"]: self._filled(pod, volume) for volume in pod["spec"].get("volumes") or []}
        for container in pod["spec"]["containers"]:
            for mount in container.get("volumeMounts") or []:
                _make_below(volumes[mount["name"]], mount.get("subPath", ""), owned=self.owned)
        return volumes

    def refresh(self, pod: Object) -> None:
        """Bring up to date what follows objects of the cluster. All other files are the containers' by now."""
        for volume in pod["spec"].get("volumes") or []:
            if not FROM_OBJECTS.isdisjoint(volume):
                self._filled(pod, volume)

    def mounts(self, container: Object, volumes: Mapping[str, Path]) -> list[Mount]:
        """What the container sees of the volumes, and the shared memory that all of the pod's have in common."""
        shared = self.folder / ".shm"
        shared.mkdir(parents=True, exist_ok=True)
        shared.chmod(0o1777)
        found = [Mount(shared, "/dev/shm", read_only=False)]
        for mount in container.get("volumeMounts") or []:
            source = volumes[mount["name"]] / mount.get("subPath", "")
            found.append(Mount(source, mount["mountPath"].rstrip("/"), read_only=bool(mount.get("readOnly"))))
        return found

    def _filled(self, pod: Object, volume: Object) -> Path:
        path = self._prepare(pod, volume)
        self._give(path, volume, (pod["spec"].get("securityContext") or {}).get("fsGroup"))
        return path

    def _give(self, path: Path, volume: Object, group: int | None) -> None:
        """What a kubelet does for fsGroup: the group's at the root, and below it where the root was not yet."""
        if not FROM_OBJECTS.isdisjoint(volume):
            if self.owned and group is not None:
                for each in [path, *path.iterdir()]:
                    os.chown(each, 0, group)
            return
        if not self.owned or group is None:
            path.chmod(0o777)
        elif path.stat().st_gid != group:
            found = (Path(root) / name for root, _, files in os.walk(path) for name in (".", *files))
            for each in found:
                # another pod may still use the volume: what it takes away meanwhile is nobody's
                with contextlib.suppress(FileNotFoundError):
                    if not each.is_symlink():
                        os.chown(each, -1, group)
                        each.chmod(each.stat().st_mode | (0o2770 if each.is_dir() else 0o660))

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def usage(self, volumes: Mapping[str, Path]) -> dict[str, int]:
        """Bytes used in each volume that counts as ephemeral storage."""
        return {name: _size(path) for name, path in volumes.items() if path.is_relative_to(self.folder)}

    def _prepare(self, pod: Object, volume: Object) -> Path:
        namespace = pod["metadata"]["namespace"]
        path = self.folder / str(volume["name"])
        if name := claim_of(pod, volume):
            claim = self.store.find(BY_KIND["PersistentVolumeClaim"], namespace, name)
            if claim is None:
                raise NotMountable(f'persistentvolumeclaim "{name}" not found')
            path = self.claims / str(claim["metadata"]["uid"])
            path.mkdir(parents=True, exist_ok=True)
            return path
        path.mkdir(parents=True, exist_ok=True)
        if "secret" in volume:
            source = volume["secret"]
            found = self._source("Secret", namespace, source["secretName"], optional=bool(source.get("optional")))
            contents = {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}
            _write(path, contents, source.get("defaultMode", 0o644))
        elif "projected" in volume:
            self._project(path, namespace, volume["projected"])
        elif "configMap" in volume:
            source = volume["configMap"]
            found = self._source("ConfigMap", namespace, source["name"], optional=bool(source.get("optional")))
            contents = {key: value.encode() for key, value in (found.get("data") or {}).items()}
            _write(path, contents, source.get("defaultMode", 0o644))
        return path

    def _project(self, path: Path, namespace: str, projected: Object) -> None:
        """Secrets side by side in one folder, each key under the path its item names."""
        contents = {}
        for source in projected["sources"]:
            secret = source["secret"]
            found = self._source("Secret", namespace, secret["name"], optional=bool(secret.get("optional")))
            data = found.get("data") or {}
            for item in secret.get("items") or [{"key": key, "path": key} for key in data]:
                if item["key"] not in data:
                    raise NotMountable(f"references non-existent secret key: {item['key']}")
                contents[item["path"]] = base64.b64decode(data[item["key"]])
        _write(path, contents, projected.get("defaultMode", 0o644))

    def _source(self, kind: str, namespace: str, name: str, *, optional: bool) -> Object:
        found = self.store.find(BY_KIND[kind], namespace, name)
        if found is None and not optional:
            raise NotMountable(f'{kind.lower()} "{name}" not found')
        return found or {}


def _make_below(volume: Path, below: str, *, owned: bool) -> None:
    """The folders of a subPath, with the rights of the volume's root."""
    here = volume
    for part in Path(below).parts:
        here = here / part
        if not here.exists():
            here.mkdir()
            here.chmod(volume.stat().st_mode & 0o777 if owned else 0o777)


def translation(container: Object, volumes: Mapping[str, Path]) -> dict[str, str]:
    """Where each mounted path of the container really is; longer paths first."""
    pairs = {
        mount["mountPath"].rstrip("/"): str(volumes[mount["name"]] / mount.get("subPath", ""))
        for mount in container.get("volumeMounts") or []
    }
    return dict(sorted(pairs.items(), key=lambda pair: -len(pair[0])))


def translate(text: str, paths: Mapping[str, str]) -> str:
    """`text` with a path of the container replaced by the real one, if it is one."""
    for inside, outside in paths.items():
        if text == inside or text.startswith(inside + "/"):
            return outside + text[len(inside) :]
    return text


def _write(folder: Path, contents: Mapping[str, bytes], mode: int) -> None:
    for old in folder.iterdir():
        if old.name not in contents:
            old.unlink()
    for key, value in contents.items():
        target = folder / key
        if target.exists() and target.read_bytes() == value:
            continue
        fresh = folder / f".{key}.new"
        fresh.write_bytes(value)
        # The pod's group reads a secret on a cluster; here the one user does.
        fresh.chmod(mode | 0o400)
        fresh.replace(target)


def _size(folder: Path) -> int:
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += (Path(root) / name).lstat().st_size
            except OSError:
                continue
    return total
