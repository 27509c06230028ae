"""Where finished logs lie: one text a job, one zip an attempt of a run."""

import io
import re
import zipfile

from github.emulator.store.runs import Job, Run
from github.emulator.store.store import Store


def job_path(job: Job) -> str:
    return f"/jobs/{job.id}.txt"


def run_path(run: Run, attempt: int) -> str:
    return f"/runs/{run.id}/{attempt}.zip"


class LogShelf:
    """Blobs by path. A job that has not finished has none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def blob(self, path: str) -> bytes | None:
        if found := re.fullmatch(r"/jobs/(\d+)\.txt", path):
            job = self._store.jobs.get(int(found[1]))
            return job.log if job is not None else None
        if found := re.fullmatch(r"/runs/(\d+)/(\d+)\.zip", path):
            run = self._store.runs.get(int(found[1]))
            return self._archive(run, int(found[2])) if run is not None else None
        if found := re.fullmatch(r"/artifacts/(\d+)\.zip", path):
            artifact = self._store.artifacts.get(int(found[1]))
            return artifact.content if artifact is not None else None
        return None

    def _archive(self, run: Run, attempt: int) -> bytes | None:
        jobs = [job for job in self._store.jobs_at(run, attempt) if job.log is not None]
        if not jobs:
            return None
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for index, job in enumerate(jobs):
                archive.writestr(f"{index}_{job.name.replace('/', '_')}.txt", job.log or b"")
        return buffer.getvalue()
