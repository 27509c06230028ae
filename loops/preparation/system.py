"""What the words of a command ask of the system it runs on: packages, services, and what no box gives."""

import re

from loops.preparation.plan import Bring, Lack, Missing, Need

_PACKAGES = re.compile(r"\b(?:apt-get|apt|aptitude)\s+(?:-\S+\s+)*(?:install|build-dep)\b((?:\\\n|[^\n&|;])*)")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+:_-]*(?:=\S+)?")
# of apt itself, and of what its packages are set up with
_OF_PACKAGES = {
    "apt", "apt-get", "aptitude", "add-apt-repository", "apt-add-repository", "apt-key", "dpkg", "locale-gen",
    "update-locale", "update-alternatives", "gem", "npm", "pip", "pip3", "corepack",
}  # fmt: skip
_FREES_ONLY = ("rm", "swapoff", "docker-image-prune")
_STARTS = re.compile(r"\b(?:systemctl\s+(?:re)?start|service\s+(?P<name>\S+)\s+(?:re)?start)\s*(?P<unit>\S*)")
_SUDO = re.compile(r"(?:^|[\s;&|(`\"'])sudo\s+((?:-\S+\s+)*)(?:[A-Z_]+=\S+\s+)*([^\s;&|]+)([^\n]*)", re.MULTILINE)
_DOCKER = re.compile(
    r"(?:^|[\s;&|(])(docker(?:-compose)?\s+(?:run|build|buildx|compose|pull|exec|up|image|load|login)\b)"
)
_OTHER_SYSTEMS = re.compile(r"(?:^|[\s;&|(])(brew|choco|snap|winget|xcodebuild|hdiutil)\s+\S+", re.MULTILINE)
_SERVICES = {
    "postgresql": "postgresql", "postgres": "postgresql", "mysql": "mysql", "mariadb": "mysql", "redis": "redis",
    "redis-server": "redis", "memcached": "memcached",
}  # fmt: skip


def asked(run: str) -> tuple[list[Need], list[Missing]]:
    """What a script asks of the system, as far as its words tell."""
    text = "\n".join(line for line in run.split("\n") if not line.lstrip().startswith("#"))
    needs, missing = [], []
    for found in _PACKAGES.finditer(text):
        names = [word for word in found[1].replace("\\\n", " ").split() if _PACKAGE.fullmatch(word)]
        needs.append(Need(Bring.PACKAGES, "apt", detail=" ".join(names)))
    for found in _STARTS.finditer(text):
        unit = (found["name"] or found["unit"]).removesuffix(".service")
        if unit in _SERVICES:
            needs.append(Need(Bring.SERVICE, _SERVICES[unit]))
        else:
            missing.append(Missing(Lack.ROOT, found[0].strip()))
    missing += [Missing(Lack.DOCKER, found[1]) for found in _DOCKER.finditer(text)]
    missing += [Missing(Lack.ROOT, found[0].strip()) for found in _OTHER_SYSTEMS.finditer(text)]
    for found in _SUDO.finditer(text):
        program, rest = found[2].rsplit("/", 1)[-1], found[3]
        if program in _OF_PACKAGES or "/etc/apt/" in rest:
            if not any(each.kind is Bring.PACKAGES for each in needs):
                needs.append(Need(Bring.PACKAGES, "apt"))
        elif program not in _FREES_ONLY and not _STARTS.match(f"{program}{rest}"):
            missing.append(Missing(Lack.ROOT, f"sudo {program}"))
    return needs, missing
