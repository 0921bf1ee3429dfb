# The service: docker build -t qdecomp . && docker run --rm -p 8000:8000 qdecomp
# docs/container.md says more; tests/test_container.py runs these steps without docker.

FROM python:3.11-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/qdecomp
COPY setup.py pyproject.toml requirements.lock README.md LICENSE ./
COPY qdecomp ./qdecomp
# The lock only constrains the versions, so neither torch nor AllenNLP is installed. Constraints cannot have hashes here,
# because the project itself has none.
RUN sed 's/ --hash.*//' requirements.lock >pins.txt
RUN /opt/qdecomp/bin/pip install --no-cache-dir --constraint pins.txt '.[parser,serve]'
# The tests of other packages are a fifth of the whole.
RUN find /opt/qdecomp -type d -name tests -prune -exec rm -rf {} +

FROM python:3.11-slim-bookworm
COPY --from=build /opt/qdecomp /opt/qdecomp
ENV PATH=/opt/qdecomp/bin:/usr/local/bin:/usr/bin:/bin HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# This user need not exist: it owns nothing and writes only temporary files.
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["qdecomp", "serve", "--host", "0.0.0.0", "--port", "8000"]
