"""What jobs of a run leave for each other and for people: `actions/upload-artifact` and `download-artifact`."""

import io
import zipfile
from pathlib import Path

from github.emulator.actions.runner.joblog import JobLog
from github.emulator.store.runs import Artifact, Run
from github.emulator.store.store import Store
from github.workflows import globs


def upload(store: Store, run: Run, folder: Path, log: JobLog, inputs: dict[str, str]) -> dict[str, str]:
    """Keep the files that `path` names as one zip. Raises OSError for a taken name, or where `error` is asked."""
    name = inputs.get("name") or "artifact"
    found = _files(folder, inputs.get("path", ""))
    if not found:
        message = (
            f"No files were found with the provided path: {inputs.get('path', '')}. No artifacts will be uploaded."
        )
        if inputs.get("if-no-files-found", "warn") == "error":
            raise OSError(message)
        log.line(f"##[warning]{message}")
        return {}
    taken = [row for row in store.artifacts if row.run is run and row.name == name and row.attempt == run.attempt]
    if taken and inputs.get("overwrite", "").lower() != "true":
        raise OSError(f"Failed to CreateArtifact: Received non-retryable error: (409) Conflict: {name} already exists")
    for row in taken:
        store.artifacts.remove(row)
    root = _common(found, folder)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in found:
            archive.write(file, str(file.relative_to(root)))
    made = Artifact(store.artifacts.new_id(), run, run.attempt, name, buffer.getvalue(), store.now())
    store.artifacts.add(made)
    log.line(f"Artifact {name} has been successfully uploaded! Artifact ID is {made.id}")
    return {"artifact-id": str(made.id)}


def download(store: Store, run: Run, folder: Path, log: JobLog, inputs: dict[str, str]) -> dict[str, str]:
    """Unpack one artifact of the run, or each into a folder of its name. Raises OSError for one that is not there."""
    wanted, target = inputs.get("name", ""), folder / (inputs.get("path") or ".")
    rows = [row for row in store.artifacts if row.run is run and wanted in ("", row.name)]
    if wanted and not rows:
        raise OSError(f"Unable to download artifact(s): Artifact not found for name: {wanted}")
    for row in rows:
        with zipfile.ZipFile(io.BytesIO(row.content)) as archive:
            archive.extractall(target if wanted else target / row.name)
        log.line(f"Artifact download completed: {row.name}")
    return {"download-path": str(target)}


def _files(folder: Path, text: str) -> list[Path]:
    patterns = [line.strip().removeprefix("./") for line in text.split("\n") if line.strip()]
    found = set()
    for pattern in patterns:
        place = folder / pattern
        if place.is_dir():
            found |= {file for file in place.rglob("*") if file.is_file()}
    for file in folder.rglob("*"):
        if file.is_file() and ".git" not in file.parts and globs.matches(patterns, str(file.relative_to(folder))):
            found.add(file)
    return sorted(found)


def _common(files: list[Path], folder: Path) -> Path:
    """The folder that all have in common; of a single file its own."""
    root = files[0].parent
    while not all(file.is_relative_to(root) for file in files) and root != folder:
        root = root.parent
    return root
