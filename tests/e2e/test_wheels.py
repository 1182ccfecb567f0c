"""What make wheels built, installed where there is neither a checkout nor a compiler."""

from __future__ import annotations

import re
import subprocess

import pytest
from support.remotes import ROOT

pytestmark = [pytest.mark.container(images=()), pytest.mark.timeout(1800)]

DIST = ROOT / "dist"

BASE = "debian:trixie-slim"

# The first sample of the README that plays.
SAMPLE = next(
    block.split("```")[0]
    for block in (ROOT / "README.md").read_text().split("```python\n")[1:]
    if "gymnasium.make" in block
)

# The last folder has a name that few expect.
VENV = "/opt/a plåce/venv"

INSTALL = f"""
apt-get update -qq && apt-get install -qqy --no-install-recommends python3-venv >/dev/null
python3 -m venv '{VENV}' && PATH='{VENV}/bin':$PATH
pip install -q --find-links /dist 'pluriverse[gymnasium]' pluriverse-server pluriverse-runtime-gym-core
pluriverse-server doctor --install
"""


def in_bare_container(script: str, *options: str) -> str:
    """What a script prints in a container that has Debian's slim image and the wheels."""
    docker_run = [
        "docker",
        "run",
        "--rm",
        "--interactive",
        "--network",
        "host",
        "--volume",
        f"{DIST}:/dist:ro",
        *options,
    ]
    done = subprocess.run([*docker_run, BASE, "sh", "-eux"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def wheels() -> None:
    subprocess.run(["make", "wheels"], cwd=ROOT, check=True)


def test_each_distribution_has_a_wheel_and_an_sdist() -> None:
    names = {path.name.replace("-", "_") for path in (ROOT / "runtimes").iterdir()}
    expected = {"pluriverse", *(f"pluriverse_{name}" for name in ("authoring", "eval", "protocol", "server"))}
    expected |= {f"pluriverse_runtime_{name}" for name in names}
    assert {path.name.split("-")[0] for path in DIST.glob("*.whl")} == expected
    assert {path.name.split("-")[0] for path in DIST.glob("*.tar.gz")} == expected


def test_native_parts_run_on_any_linux_of_the_last_years_and_agents_anywhere() -> None:
    tags = {
        path.name.split("-", 2)[2]
        for path in DIST.glob("*.whl")
        if path.name.startswith(("pluriverse-", "pluriverse_server-"))
    }
    machines = ("x86_64", "aarch64")
    native = {f"cp311-abi3-manylinux_2_34_{machine}.whl" for machine in machines}
    native |= {f"py3-none-manylinux_2_34_{machine}.whl" for machine in machines}
    assert tags == native | {"py3-none-any.whl"}


def test_the_readmes_first_sample_plays_from_wheels_alone() -> None:
    said = in_bare_container(
        f"""{INSTALL}
cat >/tmp/sample.py <<'END'
{SAMPLE}
END
cd / && python /tmp/sample.py
python -c 'import pluriverse.rfb; print(pluriverse.rfb.implementation())'
"""
    )
    assert said.splitlines()[-1].startswith("native")


def test_a_runtime_is_run_by_its_id_from_any_folder_in_an_odd_environment() -> None:
    said = in_bare_container(
        f"""{INSTALL}
umask 077 && cd /tmp && unset HOME && export HTTP_PROXY=http://127.0.0.1:9
pluriverse-server run gym-core --rewarder-port 15931 --vnc-port 5931 >/tmp/said 2>&1 &
until env -u HTTP_PROXY python -c 'import urllib.request as r; r.urlopen("http://127.0.0.1:15931/readyz")'; do
  kill -0 $! || {{ cat /tmp/said; exit 1; }}
  sleep 0.5
done
kill $! && wait $! || true
cat /tmp/said
"""
    )
    assert re.search(r"viewer +http://127\.0\.0\.1:15931/viewer/\?password=", said)
