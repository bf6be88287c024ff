"""What an image, a container and a service are made from: read, and held to the code. Nothing is built or started here."""

import configparser
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from gawah.cli.entry import group
from gawah.config import ENV_PREFIX, Settings

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = ROOT / "deploy" / "gawah.service"
PINNED = re.compile(r"^([a-z0-9._-]+)==(\S+)(?: ;[^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def instructions():
    """(instruction, arguments) of the Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in DOCKERFILE.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [
        (word.upper(), rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word
    ]


def stages():
    found = []
    for word, rest in instructions():
        if word == "FROM":
            found.append([])
        if found:
            found[-1].append((word, rest))
    return found


def ignored(path):
    """Whether .dockerignore keeps a path from the builder: the last pattern that fits decides."""
    is_out = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        bare = pattern.removeprefix("!").removeprefix("**/")
        parts = [path, *(str(parent) for parent in Path(path).parents), Path(path).name]
        if any(fnmatch.fnmatchcase(part, bare) for part in parts):
            is_out = not pattern.startswith("!")
    return is_out


def checked_command(words):
    """The words are a call of gawah that parses, to the last option."""
    command, rest = group, list(words)
    context = click.Context(group, info_name="gawah")
    while isinstance(command, click.Group):
        name = rest.pop(0)
        command = command.get_command(context, name)
        assert command is not None, name
    command.make_context(name, rest, resilient_parsing=False).close()


def settings_named(text):
    names = set(re.findall(rf"\b{ENV_PREFIX}([A-Z_]+)\b", text)) - {"CONFIG", "DEBUG"}
    assert names
    return {name.lower() for name in names}


def test_the_image_is_built_in_one_stage_and_run_in_another_as_nobody_special():
    build, run = stages()
    assert build[0][1].endswith(" AS build")
    assert not any(word == "USER" for word, _ in build)
    (user,) = [rest for word, rest in run if word == "USER"]
    assert user not in ("root", "0")
    words = [word for word, _ in run]
    assert words.index("USER") > max(i for i, word in enumerate(words) if word in ("RUN", "COPY"))
    assert not any("pip install" in rest for word, rest in run if word == "RUN")
    assert {"HEALTHCHECK", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD", "STOPSIGNAL"} <= set(words)


def test_the_image_takes_nothing_but_what_is_pinned_and_names_no_host():
    assert not re.search(r"https?://(?!127\.0\.0\.1)", DOCKERFILE)
    assert not any(word == "ADD" for word, _ in instructions())
    images = [rest for word, rest in instructions() if word == "ARG" and rest.startswith("PYTHON=")]
    assert re.fullmatch(r"PYTHON=python:3\.\d+-slim-\w+", images[0])
    assert {rest.split()[0] for word, rest in instructions() if word == "FROM"} == {"${PYTHON}"}
    installs = [
        part for word, rest in instructions() if word == "RUN" for part in rest.split("&&") if "pip install" in part
    ]
    assert len(installs) == 2
    for install in installs:
        assert "--no-deps" in install
        assert "--require-hashes" in install or install.split()[-1] == "."


def test_what_the_image_copies_is_there_and_reaches_the_builder():
    copied = [
        source
        for word, rest in instructions()
        if word == "COPY" and "--from=" not in rest
        for source in rest.split()[:-1]
    ]
    assert "requirements/server.lock" in copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert not ignored(source), source
    assert not ignored("src/gawah/cli/entry.py")
    for secret in (
        ".git",
        ".git/config",
        ".venv/bin/python",
        "gawah.toml",
        ".env",
        "tests/conftest.py",
        "src/gawah/__pycache__/a.pyc",
    ):
        assert ignored(secret), secret


def test_the_image_starts_a_server_that_listens_for_others_and_looks_after_its_health():
    (command,) = [json.loads(rest) for word, rest in instructions() if word == "CMD"]
    (entry,) = [json.loads(rest) for word, rest in instructions() if word == "ENTRYPOINT"]
    assert entry == ["gawah"]
    checked_command(command)
    assert settings_named(DOCKERFILE) <= set(Settings.model_fields)
    (health,) = [rest for word, rest in instructions() if word == "HEALTHCHECK"]
    words = json.loads(health.partition("CMD ")[2])
    assert words[0] == "python"
    compile(words[2], "healthcheck", "exec")
    assert "/readyz" in words[2]
    assert "GAWAH_HOST=0.0.0.0" in DOCKERFILE, "so keys are needed"


def test_the_health_check_tells_a_ready_server_from_none(tmp_path):
    pytest.importorskip("fastapi")
    from tests.api.serving import Server

    (health,) = [rest for word, rest in instructions() if word == "HEALTHCHECK"]
    words = [sys.executable, *json.loads(health.partition("CMD ")[2])[1:]]

    def code(port):
        environment = {**os.environ, "GAWAH_PORT": str(port), "no_proxy": "*"}
        return subprocess.run(words, check=False, capture_output=True, env=environment).returncode

    with Server(tmp_path / "store", "--workers", "0") as server:
        assert code(server.url.rsplit(":", 1)[1]) == 0
    assert code(1) != 0


@pytest.mark.parametrize("name", [path.name for path in sorted((ROOT / "requirements").glob("*.lock"))])
def test_every_pin_has_hashes(name):
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    pins = PINNED.findall(text)
    assert len(pins) == len(re.findall(r"^\S+==", text, re.MULTILINE)) > 0, "a line without hashes"
    assert all(re.match(r"\S+==|    --hash=", line) for line in text.splitlines())
    assert "http" not in re.sub(r"^[a-z0-9._-]*http[a-z0-9._-]*==", "", text, flags=re.MULTILINE)


def test_the_image_runs_the_versions_that_were_tested():
    def pins(name):
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        return {package: (version, hashes) for package, version, hashes in PINNED.findall(text)}

    tested, runtime, served = (pins(f"{name}.lock") for name in ("develop", "runtime", "server"))
    assert all(tested[package] == pin for package, pin in served.items())
    assert runtime.keys() <= served.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in ("server", "mcp", "postgres", "hnsw", "qdrant"):
        for requirement in project["optional-dependencies"][extra]:
            assert re.split(r"[><=\[]", requirement)[0] in served, requirement
    for requirement in project["dependencies"]:
        assert re.split(r"[><=\[]", requirement)[0] in served, requirement


def test_the_container_is_confined_and_keeps_its_store():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    body = yaml.safe_load(text)
    (service,) = body["services"].values()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "network_mode", "pid", "cap_add", "user"} & service.keys()
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    (volume,) = service["volumes"]
    name, _, place = volume.partition(":")
    assert name in body["volumes"]
    assert [rest for word, rest in instructions() if word == "VOLUME"] == [place]
    assert service["ports"][0].rsplit(":", 1)[1] == next(rest for word, rest in instructions() if word == "EXPOSE")
    assert {key.removeprefix(ENV_PREFIX).lower() for key in service["environment"]} <= set(Settings.model_fields)
    for words in re.findall(r"docker compose run --rm gawah (.+)", text):
        checked_command(shlex.split(words))


def test_the_service_is_confined_and_starts_a_server():
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str
    unit.read_string(UNIT.read_text(encoding="utf-8"))
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program.startswith("/")
    checked_command(words)
    assert settings_named(UNIT.read_text(encoding="utf-8")) <= set(Settings.model_fields)
    assert service["RestartPreventExitStatus"] == "5"
    assert service["KillMode"] == "mixed"
    for key in (
        "NoNewPrivileges",
        "PrivateTmp",
        "PrivateDevices",
        "DynamicUser",
        "RestrictSUIDSGID",
        "LockPersonality",
    ):
        assert service[key] == "yes", key
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""


def test_systemd_finds_nothing_wrong_with_the_service(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not there")
    text = UNIT.read_text(encoding="utf-8")
    copy = tmp_path / "gawah.service"  # the program it starts is not installed here
    copy.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], check=False, capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "gawah" in line]) == (0, []), done.stderr


def test_the_commands_of_the_install_page_are_there():
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for words in re.findall(r"(?:rm gawah|bin/gawah) ((?:--store \S+ )?[a-z].*?)(?:  +#.*)?$", text, re.MULTILINE):
        found = shlex.split(words)
        checked_command(found[2:] if found[0] == "--store" else found)
    for lock in re.findall(r"requirements/\w+\.lock", text):
        assert (ROOT / lock).exists()
