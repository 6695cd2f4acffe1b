"""What deploy/ ships is read by the tools that will read it, without an engine, a cluster or an init."""

import json
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import compose_spec
import kubernetes_validate
import pytest
import yaml

from beforehand import limits
from beforehand.settings import Settings
from programs import needed

DEPLOY = Path(__file__).parents[2] / "deploy"
IMAGE = DEPLOY / "docker/Dockerfile"
COMPOSE = DEPLOY / "compose/compose.yaml"
SIDECAR = DEPLOY / "kubernetes/sidecar.yaml"
UNIT = DEPLOY / "systemd/beforehand.service"
MOST_EXPOSED = 1.5
"""systemd-analyze's exposure, 0 (sealed) to 10 (open)."""


@contextmanager
def answering(code):
    """A server that answers every GET with `code`; its address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        work = threading.Thread(target=server.serve_forever)
        work.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            work.join()


def ran(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def unit(tmp_path):
    """The unit, with a program in it that is on every machine."""
    text = UNIT.read_text()
    assert text.count("ExecStart=/opt/beforehand/bin/beforehand up ") == 1
    copy = tmp_path / UNIT.name
    copy.write_text(text.replace("/opt/beforehand/bin/beforehand", "/bin/true"))
    return str(copy)


def environment_of(names):
    """Names of our variables among `names`, as (section, setting)."""
    return {tuple(name.removeprefix("BEFOREHAND_").lower().split("__")) for name in names if "BEFOREHAND_" in name}


def settings_known():
    return {
        (section, name)
        for section, field in Settings.model_fields.items()
        for name in getattr(field.annotation, "model_fields", {})
    }


def test_systemd_finds_nothing_to_say_about_the_unit(unit):
    analyze = needed("systemd-analyze", "systemd")
    done = ran(analyze, "verify", "--man=no", "--generators=no", "--recursive-errors=no", unit)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_unit_is_exposed_to_little(unit):
    done = ran(needed("systemd-analyze", "systemd"), "security", "--offline=true", "--no-pager", unit)
    exposure = re.search(r"Overall exposure level for beforehand.service: ([\d.]+)", done.stdout)
    assert exposure, done.stderr
    assert float(exposure[1]) <= MOST_EXPOSED


def test_the_readme_states_the_exposure_that_is_held():
    assert f"at most {MOST_EXPOSED} of 10" in (DEPLOY / "README.md").read_text()


def test_a_dockerfile_linter_finds_nothing():
    done = ran(Path(sys.executable).parent / "hadolint", "--format", "json", str(IMAGE))
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stderr


def test_the_image_copies_only_what_exists_and_is_let_through():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE.read_text(), re.MULTILINE)
    sources = {name for line in copied for name in line.split()}
    let_through = set(re.findall(r"^!(\S+)$", (DEPLOY / "docker/Dockerfile.dockerignore").read_text(), re.MULTILINE))
    assert sources == let_through
    assert [name for name in sources if not (DEPLOY.parent / name).exists()] == []


def test_the_image_does_not_run_as_root_and_knows_its_health():
    text = IMAGE.read_text()
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", text, re.MULTILINE)


@pytest.mark.parametrize("asks", ["image", "compose"])
def test_a_health_check_succeeds_when_the_daemon_is_ready_and_fails_when_it_is_not(services, asks):
    """The very command, against pages of a daemon that is ready, one that is not, and none at all."""
    given = re.search(r"^HEALTHCHECK [^\[]*CMD \\\n *(\[.+\])$", IMAGE.read_text(), re.MULTILINE)
    command = json.loads(given[1]) if asks == "image" else services["daemon"]["healthcheck"]["test"][1:]
    port = re.search(r"BEFOREHAND_HTTP__PORT=(\d+)", IMAGE.read_text())[1]
    program, flag, text = command
    assert (program, flag) == ("python", "-c")
    assert f"http://127.0.0.1:{port}/readyz" in text

    def checked(url):
        return ran(sys.executable, "-c", text.replace(f"http://127.0.0.1:{port}", url)).returncode

    with answering(200) as url:
        assert checked(url) == 0
    with answering(503) as url:
        assert checked(url) == 1
    assert checked(url) == 1


@pytest.fixture
def services():
    return yaml.safe_load(COMPOSE.read_text())["services"]


def test_compose_can_read_the_file():
    options = compose_spec.PyOptions()
    options.apply_merge = True
    read = options.from_yaml(COMPOSE.read_text())
    assert set(read.services) == {"passwords", "broker", "daemon", "agent"}


def test_compose_names_only_files_and_volumes_that_exist(services):
    volumes = yaml.safe_load(COMPOSE.read_text())["volumes"]
    named = [mount.split(":")[0] for service in services.values() for mount in service.get("volumes", [])]
    assert named
    for source in named:
        assert (COMPOSE.parent / source).is_file() if source.startswith(".") else source in volumes
    build = services["daemon"]["build"]
    assert (COMPOSE.parent / build["context"] / build["dockerfile"]).resolve() == IMAGE


def test_compose_starts_each_service_after_what_it_needs(services):
    assert services["broker"]["depends_on"]["passwords"]["condition"] == "service_completed_successfully"
    assert services["daemon"]["depends_on"]["broker"]["condition"] == "service_healthy"
    assert services["agent"]["depends_on"]["daemon"]["condition"] == "service_healthy"


def test_compose_asks_for_every_password_that_the_example_sets():
    asked = set(re.findall(r"\$\{(\w+):\?", COMPOSE.read_text()))
    example = (DEPLOY / "compose/example.env").read_text()
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_kubernetes_accepts_the_sidecar():
    document = yaml.safe_load(SIDECAR.read_text())
    for version in ("1.29", kubernetes_validate.latest_version()):
        kubernetes_validate.validate(document, version, strict=True)


def test_the_sidecar_is_native_and_has_no_rights():
    pod = yaml.safe_load(SIDECAR.read_text())["spec"]["template"]["spec"]
    (daemon,) = pod["initContainers"]
    assert daemon["restartPolicy"] == "Always"
    (port,) = daemon["ports"]
    assert f"BEFOREHAND_HTTP__PORT={port['containerPort']}\n" in IMAGE.read_text()
    asked = {name: daemon[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    assert {probe["port"] for probe in asked.values()} == {port["name"]}
    paths = {name: probe["path"] for name, probe in asked.items()}
    assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}
    assert pod["securityContext"]["runAsNonRoot"]
    for container in (daemon, *pod["containers"]):
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_only_settings_that_exist_are_set(services):
    pod = yaml.safe_load(SIDECAR.read_text())["spec"]["template"]["spec"]
    names = {name for service in services.values() for name in service.get("environment", {})}
    containers = [*pod["initContainers"], *pod["containers"]]
    names |= {entry["name"] for container in containers for entry in container.get("env", [])}
    names |= set(re.findall(r"(BEFOREHAND_\w+)=", UNIT.read_text() + IMAGE.read_text()))
    assert environment_of(names)
    assert environment_of(names) <= settings_known()


def test_a_container_has_twice_the_memory_that_its_daemon_may_fill(services):
    daemon = services["daemon"]
    (sidecar,) = yaml.safe_load(SIDECAR.read_text())["spec"]["template"]["spec"]["initContainers"]
    env = {entry["name"]: entry["value"] for entry in sidecar["env"]}
    bound = "BEFOREHAND_MEMORY__BYTES"
    assert daemon["mem_limit"] == "1g"
    assert sidecar["resources"]["limits"]["memory"] == "1Gi"
    assert max(int(daemon["environment"][bound]), int(env[bound])) * 2 < 2**30


@pytest.mark.parametrize("file", [COMPOSE, SIDECAR])
def test_the_sample_agent_that_is_started_exists(file):
    named = re.findall(r"/opt/beforehand/(examples/[\w.]+)", file.read_text())
    assert named
    assert [name for name in named if not (DEPLOY.parent / name).is_file()] == []


def test_the_broker_holds_as_much_as_the_daemon_counts_on():
    lines = (DEPLOY / "mosquitto/mosquitto.conf").read_text().splitlines()
    settings = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    assert settings["max_queued_messages"] == str(limits.BROKER_QUEUED_MESSAGES)
    assert settings["max_queued_bytes"] == str(limits.BROKER_QUEUED_BYTES)
    assert settings["max_inflight_messages"] == str(limits.BROKER_INFLIGHT)
    assert settings["max_packet_size"] == str(limits.BROKER_PACKET_BYTES)
    assert settings["persistent_client_expiration"] == f"{limits.SESSION_EXPIRY_S // 86_400}d"
    assert settings["set_tcp_nodelay"] == "true"
