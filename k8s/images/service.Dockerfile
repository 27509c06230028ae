# syntax=docker/dockerfile:1
# The image of the service: web, worker and migration are this image with different commands.
# Build from the root of the repository: k8s/images/build service IMAGE. Releases name the base by digest: docs/releases.md.

ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
RUN python -m venv /opt/greenloop
COPY requirements.lock /src/
RUN /opt/greenloop/bin/pip install --no-cache-dir --no-deps --require-hashes -r /src/requirements.lock
COPY pyproject.toml README.md LICENSE NOTICE /src/
COPY app /src/app
COPY github /src/github
COPY k8s /src/k8s
COPY loops /src/loops
RUN /opt/greenloop/bin/pip install --no-cache-dir --no-deps /src

FROM ${PYTHON_IMAGE}
COPY --from=build /opt/greenloop /opt/greenloop
RUN useradd --uid 1000 --create-home greenloop
ENV PATH=/opt/greenloop/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /home/greenloop
USER 1000:1000
EXPOSE 8080 8081
CMD ["greenloop", "web", "--host", "::", "--port", "8080"]
