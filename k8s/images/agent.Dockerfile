# syntax=docker/dockerfile:1
# The image of a box: the runner, git, common toolchains, and the agents at the versions of package.json.
# Build from the root of the repository: k8s/images/build agent IMAGE. Releases name the bases by digest: docs/releases.md.

ARG NODE_IMAGE=docker.io/library/node:22-bookworm
ARG GO_IMAGE=docker.io/library/golang:1.25-bookworm

FROM ${GO_IMAGE} AS go

FROM ${NODE_IMAGE}
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]

# The base brings Node, Python 3.11, git, make and a C toolchain.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      default-jdk-headless jq less maven python3-pip python3-venv ripgrep ruby-full tini unzip zip \
 && rm -rf /var/lib/apt/lists/*
COPY --from=go /usr/local/go /usr/local/go
ENV PATH=/usr/local/go/bin:$PATH

# Postinstall scripts fetch nothing, but without them two of the four are stubs. What is installed has to be in the lock
# file with its integrity: of an architecture that is not in it (see docs/releases.md) no image is made.
COPY k8s/images/package.json k8s/images/package-lock.json /opt/greenloop/clis/
RUN npm ci --prefix /opt/greenloop/clis --no-audit --no-fund --loglevel error \
 && cd /opt/greenloop/clis && node -e 'const of = (file) => require(file).packages, lock = of("./package-lock.json"); \
      for (const name in of("./node_modules/.package-lock.json")) \
        if (!lock[name]?.integrity) { console.error(name + " is not locked"); process.exit(1) }' \
 && ln -s /opt/greenloop/clis/node_modules/.bin/{codex,opencode,claude,gemini} /usr/local/bin/ \
 && npm cache clean --force

COPY k8s/images/native.lock /opt/greenloop/native.lock
RUN python3 -m venv /opt/greenloop/native \
 && /opt/greenloop/native/bin/pip install --no-cache-dir --no-deps --require-hashes -r /opt/greenloop/native.lock \
 && echo /opt/greenloop/lib > "$(echo /opt/greenloop/native/lib/python3.*/site-packages)/greenloop.pth" \
 && printf '#!/bin/sh\nexec /opt/greenloop/native/bin/python -P -m k8s.native "$@"\n' > /usr/local/bin/greenloop-native \
 && chmod 755 /usr/local/bin/greenloop-native
COPY k8s/__init__.py /opt/greenloop/lib/k8s/__init__.py
COPY k8s/native /opt/greenloop/lib/k8s/native
COPY k8s/runner /opt/greenloop/runner

# What was copied has the modes of whoever checked it out. A pod runs this image twice: the base's user 1000 becomes the
# runner, 1001 is the agent, whose container starts with `runner supervise` instead; any other two will do. Everything but
# the volumes may be read-only.
RUN chmod -R a+rX /opt/greenloop/lib /opt/greenloop/runner \
 && usermod --login runner --home /home/agent --move-home node && groupmod --new-name runner node \
 && useradd --uid 1001 --user-group --home-dir /home/agent/agent/home --no-create-home --shell /bin/bash agent
ENV HOME=/home/agent PYTHONDONTWRITEBYTECODE=1
WORKDIR /home/agent
USER 1000:1000
ENTRYPOINT ["tini", "--", "python3", "-I", "-B", "/opt/greenloop/runner"]
