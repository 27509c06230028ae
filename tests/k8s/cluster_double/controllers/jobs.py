"""The job controller: a pod for each job, again until it succeeds or the job's patience ends."""

import asyncio
import copy
import secrets
from typing import Any

from tests.k8s.cluster_double.api import Api
from tests.k8s.cluster_double.kubelet.podstatus import condition
from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import now

Object = dict[str, Any]

JOB = BY_KIND["Job"]
POD = BY_KIND["Pod"]
OWNER = "batch.kubernetes.io/job-name"
BACK_OFF_SECONDS, BACK_OFF_LIMIT = 10.0, 360.0
REFUSED_SECONDS = 1.0


class Jobs:
    """Follows the store's changes; pods are made through the API, so that admission holds for them too."""

    def __init__(self, api: Api, pace: float = 1.0) -> None:
        """`pace`: how long a second of the waits between attempts lasts."""
        self._api = api
        self._pace = pace
        self._waiting = asyncio.TaskGroup()

    async def run(self) -> None:
        """Follow the store until cancelled."""
        async with asyncio.TaskGroup() as self._waiting:
            async for change in self._api.store.changes(self._api.store.version):
                if change.resource == JOB and change.before is None:
                    self._start(change.item)
                elif change.resource == JOB and change.after is None:
                    self._clear(change.item)
                elif change.resource == POD and change.after is not None:
                    self._see(change.after)

    def _start(self, job: Object) -> None:
        metadata, template = job["metadata"], copy.deepcopy(job["spec"]["template"])
        labels = {**(template.get("metadata", {}).get("labels") or {}), OWNER: metadata["name"]}
        template["metadata"] = {"name": f"{metadata['name']}-{secrets.token_hex(3)}", "labels": labels}
        try:
            self._api.create(POD, metadata["namespace"], {"apiVersion": "v1", "kind": "Pod", **template}, strict=True)
        except Refused:  # as of a namespace so new that its account is not there yet
            self._waiting.create_task(self._again(job, REFUSED_SECONDS))
            return
        self._status(job, active=1, startTime=now())

    def _see(self, pod: Object) -> None:
        name = (pod["metadata"].get("labels") or {}).get(OWNER)
        job = name and self._api.store.find(JOB, pod["metadata"]["namespace"], name)
        phase = pod["status"].get("phase")
        if not job or phase not in ("Succeeded", "Failed") or (job.get("status") or {}).get("conditions"):
            return
        if phase == "Succeeded":
            done = [condition("SuccessCriteriaMet", "True"), condition("Complete", "True")]
            self._status(job, active=0, succeeded=1, conditions=done, completionTime=now())
            return
        failed = (job.get("status") or {}).get("failed", 0) + 1
        if failed > job["spec"].get("backoffLimit", 6):
            why = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
            self._status(job, active=0, failed=failed, conditions=[why])
            return
        self._status(job, active=0, failed=failed)
        pause = min(BACK_OFF_SECONDS * 2 ** (failed - 1), BACK_OFF_LIMIT)
        self._waiting.create_task(self._again(job, pause))

    async def _again(self, job: Object, seconds: float) -> None:
        """The next attempt, after a while, unless the job is gone by then."""
        await asyncio.sleep(seconds * self._pace)
        found = self._api.store.find(JOB, job["metadata"]["namespace"], job["metadata"]["name"])
        if found is not None and found["metadata"]["uid"] == job["metadata"]["uid"]:
            self._start(found)

    def _clear(self, job: Object) -> None:
        namespace = job["metadata"]["namespace"]
        for pod in self._api.store.list(POD, namespace):
            if (pod["metadata"].get("labels") or {}).get(OWNER) == job["metadata"]["name"]:
                self._api.delete(POD, namespace, pod["metadata"]["name"], {})

    def _status(self, job: Object, **fields: Any) -> None:
        found = self._api.store.find(JOB, job["metadata"]["namespace"], job["metadata"]["name"])
        if found is not None:
            self._api.store.update(JOB, found | {"status": {**(found.get("status") or {}), **fields}})
