# One broker. docs/testing.md and docs/running.md say how to use it.
FROM python:3.12-slim AS build
RUN python -m venv /opt/samsa
WORKDIR /src
COPY requirements/run.txt requirements/
RUN /opt/samsa/bin/pip install --no-cache-dir --require-hashes --requirement requirements/run.txt
COPY layers/samsa layers/samsa
COPY websocket_api websocket_api
COPY broker broker
# What their tables of dependencies say is in the lock already.
RUN /opt/samsa/bin/pip install --no-cache-dir --no-deps --no-build-isolation \
    ./layers/samsa ./websocket_api ./broker

FROM python:3.12-slim
RUN useradd --uid 10001 --no-create-home --no-log-init samsa \
    && install --directory --owner=samsa --group=samsa /var/lib/samsa
COPY --from=build /opt/samsa /opt/samsa
ENV PATH=/opt/samsa/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
# samsa up keeps its data in ./samsa-data, or with --ephemeral nowhere.
WORKDIR /var/lib/samsa
VOLUME /var/lib/samsa
EXPOSE 9092
# A listener with TLS or logins needs another one, with --command-config.
HEALTHCHECK --interval=5s --timeout=5s --start-period=5s --retries=3 \
    CMD ["samsa", "topics", "list", "--bootstrap", "127.0.0.1:9092"]
ENTRYPOINT ["samsa", "up", "--host", "0.0.0.0"]
