"""Checks every file of `packaging/`, the Dockerfile, the compose files and the workflows, without network.

    .test-env/packaging/bin/python tests/packaging/files.py

Each kind of file by its own linter or schema; then what no linter knows: one version, one address of the repository, and
manifests that name files which exist.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
TOOLS = Path(sys.executable).parent
ARCHIVES = ("x86_64", "aarch64")


def run(tool, *arguments):
    """Runs a tool of the environment of this script, or one of the system."""
    own = TOOLS / tool
    command = [own if own.exists() else tool, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{tool} {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
    return done.stdout


def shell_scripts():
    scripts = [path for path in PACKAGING.rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!/bin/sh")]
    assert len(scripts) >= 6, scripts
    run("shellcheck", *scripts)


def images_and_workflows():
    run("hadolint", "Dockerfile")
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yml", "packaging/docker/cluster.yml")
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    # What would let a stranger's change run with our rights; .github/zizmor.yml says what is allowed and why.
    run("zizmor", "--offline", "--quiet", *workflows)


def kubernetes():
    for folder in (PACKAGING / "kubernetes/single", PACKAGING / "kubernetes/cluster"):
        kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
        resources = [folder / name for name in kustomization["resources"]]
        run("kubernetes-validate", "--strict", *resources)
        listed = {path.name for path in resources} | {"kustomization.yaml"}
        assert listed == {path.name for path in folder.glob("*.yaml")}, f"{folder}: not all files are in kustomization.yaml"
        for image in kustomization["images"]:
            assert image["newTag"] == version(), f"{folder}: image {image}"


def systemd():
    if not shutil.which("systemd-analyze"):
        print("packaging: systemd-analyze is not installed; the unit was not checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        # The check wants the program to exist.
        unit = Path(folder) / "gannet.service"
        unit.write_text((PACKAGING / "systemd/gannet.service").read_text().replace("/usr/bin/gannet", "/bin/true"))
        run("systemd-analyze", "verify", unit)


def homebrew():
    with tempfile.TemporaryDirectory() as folder:
        sums = Path(folder) / "SHA256SUMS"
        sums.write_text("".join(f"{name[0] * 64}  gannet-{name}-unknown-linux-gnu.tar.gz\n" for name in ARCHIVES))
        formula = run(PACKAGING / "homebrew/formula", "1.2.3", sums)
    assert 'version "1.2.3"' in formula and "@" not in formula, formula
    for name in ARCHIVES:
        assert f'sha256 "{name[0] * 64}"' in formula, formula


def release_notes():
    """In a copy, whose changelog has a release: its part and nothing else; a version that is not released is refused."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        (copy / "packaging").mkdir()
        shutil.copy(PACKAGING / "release-notes", copy / "packaging")
        (copy / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
        (copy / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2026-01-31)\n\n- new\n\n## 1.2.2\n\n- old\n")
        script = copy / "packaging/release-notes"
        assert run(script, "1.2.3").strip() == "- new"
        for refused in ("1.2.2", "1.2.4"):
            assert subprocess.run([script, refused], capture_output=True).returncode == 1, refused


def version():
    return re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def addresses():
    """Whoever moves the repository changes `repository` in Cargo.toml, and this names every other place."""
    repository = re.search(r'^repository = "https://github.com/(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard").split()
    for name in files:
        if (ROOT / name).suffix in {".zst", ".db", ".png", ".pdf"} or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(errors="replace")
        for address in re.findall(r"(?:github\.com|ghcr\.io)/([\w-]+/gannet)\b", text):
            assert address == repository, f"{name} names {address}, Cargo.toml {repository}"


def main():
    for check in (shell_scripts, images_and_workflows, kubernetes, systemd, homebrew, release_notes, addresses):
        check()
    print("packaging: all files passed")


main()
