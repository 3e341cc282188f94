#!/bin/sh
# Installs the newest release of Gannet for the user who runs it; no root needed.
#   curl -fsSL https://github.com/gannet-dev/gannet/releases/latest/download/install.sh | sh
# Arguments are run with the new binary:
#   curl -fsSL …/install.sh | sh -s -- scrape https://example.com
#
# GANNET_VERSION      a release instead of the newest one, such as 0.1.0
# GANNET_INSTALL_DIR  where the binaries go instead of ~/.local/bin (root: /usr/local/bin)
# GANNET_DOWNLOAD     where the files of the release are, for a mirror or a machine without internet
#
# Everything is in functions that the last line calls, so a download of this script that breaks off runs nothing.
set -eu

releases=https://github.com/gannet-dev/gannet/releases
# The oldest glibc that the binaries run with, as in .github/workflows/release.yml.
oldest_glibc=28

fail() {
    echo "gannet install: $*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Prints the name of the platform as Rust has it, or says why there is no binary for this machine.
detect_target() {
    system=$(uname -s)
    [ "$system" = Linux ] || fail "there is no binary for $system; run the container image instead (docs/install.md)"
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) architecture=x86_64 ;;
    aarch64 | arm64) architecture=aarch64 ;;
    *) fail "there is no binary for the architecture $machine, only for x86_64 and aarch64; build it from source (docs/install.md)" ;;
    esac
    # musl's ldd prints its name and exits with 1; glibc's prints its version.
    libc=$(ldd --version 2>&1 || true)
    case $libc in
    *musl*) fail "this system uses musl, and the binaries need glibc; run the container image instead (docs/install.md)" ;;
    esac
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.\([0-9]*\).*/\1/p')
    if [ -n "$glibc" ] && [ "$glibc" -lt "$oldest_glibc" ]; then
        fail "this system has glibc 2.$glibc, and the binaries need 2.$oldest_glibc or newer"
    fi
    echo "$architecture-unknown-linux-gnu"
}

# download URL FILE
download() {
    case $1 in
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]* | file://*) ;;
    *) fail "refused to download from $1: use https" ;;
    esac
    if have curl; then
        curl -fsSL --retry 2 --connect-timeout 15 -o "$2" "$1" || fail "could not download $1"
    elif have wget; then
        wget -q --tries=3 --connect-timeout=15 -O "$2" "$1" || fail "could not download $1"
    else
        fail "curl or wget is needed"
    fi
}

# Prints the SHA-256 of a file.
checksum() {
    if have sha256sum; then
        sha256sum "$1" | cut -d' ' -f1
    elif have openssl; then
        openssl dgst -sha256 -r "$1" | cut -d' ' -f1
    else
        fail "sha256sum or openssl is needed to verify the download"
    fi
}

# Makes the folder if it does not exist, and checks that files can be written to it.
prepare_folder() {
    mkdir -p "$1" 2>/dev/null || fail "cannot create $1; name another folder in GANNET_INSTALL_DIR"
    [ -w "$1" ] || fail "no permission to write to $1; name another folder in GANNET_INSTALL_DIR"
}

main() {
    target=$(detect_target)
    if [ -n "${GANNET_INSTALL_DIR:-}" ]; then
        folder=$GANNET_INSTALL_DIR
    elif [ "$(id -u)" = 0 ]; then
        folder=/usr/local/bin
    else
        folder=${HOME:?HOME is not set; name a folder in GANNET_INSTALL_DIR}/.local/bin
    fi
    if [ -n "${GANNET_DOWNLOAD:-}" ]; then
        from=${GANNET_DOWNLOAD%/}
    elif [ -n "${GANNET_VERSION:-}" ]; then
        from=$releases/download/v${GANNET_VERSION#v}
    else
        from=$releases/latest/download
    fi
    # The binary reads GANNET_… as its settings and refuses names that it does not know.
    unset GANNET_INSTALL_DIR GANNET_DOWNLOAD GANNET_VERSION

    prepare_folder "$folder"
    # In the folder of the binaries: moving one there is then one step, which happens or does not.
    work=$(mktemp -d "$folder/.gannet-install.XXXXXX") || fail "no permission to write to $folder"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    archive=gannet-$target.tar.gz
    echo "downloading $from/$archive" >&2
    download "$from/SHA256SUMS" "$work/SHA256SUMS"
    expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1; exit }' "$work/SHA256SUMS")
    [ -n "$expected" ] || fail "$from/SHA256SUMS does not list $archive"
    download "$from/$archive" "$work/$archive"
    actual=$(checksum "$work/$archive")
    [ "$actual" = "$expected" ] ||
        fail "the checksum of $archive is wrong: expected $expected, got $actual; nothing was installed"
    tar -xzf "$work/$archive" -C "$work" gannet gannet-ocr || fail "$archive does not contain gannet and gannet-ocr"
    chmod 755 "$work/gannet" "$work/gannet-ocr"
    version=$("$work/gannet" --version) || fail "the binary does not run on this machine; nothing was installed"
    # Between the two an older gannet sees a newer gannet-ocr, which it does not use.
    mv -f "$work/gannet-ocr" "$folder/gannet-ocr"
    mv -f "$work/gannet" "$folder/gannet"
    # Now: the arguments below replace this process, and then nothing would remove it.
    rm -rf "$work"

    echo "installed $version in $folder/gannet" >&2
    have chromium-headless-shell || have chromium || have chromium-browser || have google-chrome || have google-chrome-stable ||
        echo "note: no Chromium was found; pages that need a browser need one (Debian: apt install chromium-headless-shell)" >&2
    if [ $# -gt 0 ]; then
        exec "$folder/gannet" "$@"
    fi
    command=gannet
    if [ "$(command -v gannet || true)" != "$folder/gannet" ]; then
        command=$folder/gannet
        echo "note: $folder is not first in your PATH: export PATH=\"$folder:\$PATH\"" >&2
    fi
    echo "next: $command serve" >&2
    echo "  or: $command scrape https://example.com" >&2
}

main "$@"
