# Gannet with Chromium, run by an account without privileges. docs/operate.md, "Container", says what the browser's sandbox needs.
#   docker build -t gannet .
#   docker run -p 127.0.0.1:3002:3002 -v gannet:/var/lib/gannet gannet

FROM rust:1.95.0-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p gannet

FROM debian:bookworm-slim
# Versions are not pinned: a build gets the security updates of the day.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates chromium fonts-liberation \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 gannet \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/gannet --no-create-home --shell /usr/sbin/nologin gannet \
 && install -d -o gannet -g gannet -m 0700 /var/lib/gannet
COPY --from=build /src/target/release/gannet /usr/local/bin/gannet

# By number, so that a cluster which refuses root can tell that this is not root.
USER 10001:10001
WORKDIR /var/lib/gannet
VOLUME ["/var/lib/gannet"]
ENV GANNET_DATA_DIR=/var/lib/gannet/data \
    GANNET_LISTEN=0.0.0.0:3002
EXPOSE 3002
# There is no program for HTTP in the image but gannet itself, which serves; bash can open a connection.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/3002 && printf 'GET /ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
# As the first process of the container it also takes note of the end of what Chromium leaves; no init is needed.
ENTRYPOINT ["/usr/local/bin/gannet"]
CMD ["serve"]
