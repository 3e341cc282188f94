# Gannet with Chromium and fonts, run by an account without privileges. docs/install.md says how to run it, and what the
# browser's sandbox needs.
#   docker build -t gannet .
# The release workflow has built the binaries already and hands them over in dist/ARCHITECTURE:
#   docker build -t gannet --build-arg BINARY=prebuilt .
ARG BINARY=source

FROM docker.io/library/rust:1.95.0-bookworm AS source
WORKDIR /src
COPY . .
# Both folders are kept between builds: only what changed is compiled again.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --profile dist --locked -p gannet -p gannet-ocr && cp target/dist/gannet target/dist/gannet-ocr /

FROM scratch AS prebuilt
ARG TARGETARCH
COPY dist/${TARGETARCH}/gannet dist/${TARGETARCH}/gannet-ocr /

# hadolint ignore=DL3006
FROM ${BINARY} AS binary

FROM docker.io/library/debian:bookworm-slim
# The headless build is the same engine without windows: smaller, and a third of the CPU time for a page.
# Liberation for Latin, Greek and Cyrillic, Noto for Chinese, Japanese and Korean and for emoji: without them screenshots
# have boxes instead of letters. Versions are not pinned: a build gets the security updates of the day.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates chromium-headless-shell fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc/* /usr/share/man/* \
 && groupadd --gid 10001 gannet \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/gannet --no-create-home --shell /usr/sbin/nologin gannet \
 && install -d -o gannet -g gannet -m 0700 /var/lib/gannet
COPY --from=binary /gannet /gannet-ocr /usr/local/bin/

LABEL org.opencontainers.image.title="Gannet" \
      org.opencontainers.image.description="Self-hosted web-data service in one binary" \
      org.opencontainers.image.source="https://github.com/gannet-dev/gannet" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"

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
