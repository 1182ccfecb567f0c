"""What make wheels built, installed where there is neither a checkout nor a compiler."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.ports import free_port
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


def install(python: str = "3.13") -> str:
    """Return what installs the wheels of the README's sample with trixie's Python, or one of the next release.

    The next release isn't out: a mirror may have an older list of it than apt accepts.
    """
    newer = """
sed -i s/trixie/forky/g $(grep -rl trixie /etc/apt/sources.list*)
echo 'Acquire::Check-Valid-Until "false";' >/etc/apt/apt.conf.d/mirror
"""
    return f"""
{"" if python == "3.13" else newer}
apt-get update -qq && apt-get install -qqy --no-install-recommends python{python}-venv >/dev/null
python{python} -m venv '{VENV}' && PATH='{VENV}/bin':$PATH
pip install -q --find-links /dist 'pluriverse[gymnasium]' pluriverse-server pluriverse-runtime-gym-core
pluriverse-server doctor --install
"""


# With the host's network, its ports: each test chooses its own.
START = """
pluriverse-server run gym-core --vnc-port {vnc} --rewarder-port {rewarder} --password abc >/tmp/printed 2>&1 &
until grep -q ^Ctrl-C /tmp/printed; do
  kill -0 $! || {{ cat /tmp/printed; exit 1; }}
  sleep 0.5
done
"""

# Packages of an aarch64 Python, beneath a folder of its own: as the machine's they would replace those of x86-64.
AARCH64 = """
dpkg --add-architecture arm64 && apt-get update -qq && apt-get install -qqy --no-install-recommends qemu-user >/dev/null
mkdir /tmp/debs /aarch64 && cd /tmp/debs
apt-get download -qq $(printf '%s:arm64 ' \
  libc6 libexpat1 libffi8 libgcc-s1 libpython3.13-minimal libpython3.13-stdlib libssl3t64 libstdc++6 libzstd1 \
  python3.13-minimal zlib1g)
for package in *.deb; do dpkg -x $package /aarch64; done
ln -sfn usr/lib /aarch64/lib
pip install -q --find-links /dist --target /agent --only-binary :all: --python-version 3.13 \
  --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
  'pluriverse[gymnasium]'
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


@pytest.mark.parametrize("python", ["3.13", "3.14"])
def test_the_readmes_first_sample_plays_from_wheels_alone(python: str) -> None:
    printed = in_bare_container(
        f"""{install(python)}
cat >/tmp/sample.py <<'END'
{SAMPLE}
END
cd / && python /tmp/sample.py
python -c 'import pluriverse.rfb; print(pluriverse.rfb.implementation())'
"""
    )
    assert printed.splitlines()[-1].startswith("native")


def test_a_wheel_plays_on_the_python_of_this_machine(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    names = ("pluriverse[gymnasium]", "pluriverse-server", "pluriverse-runtime-gym-core")
    subprocess.run([tmp_path / "venv/bin/pip", "install", "-q", "--find-links", DIST, *names], check=True)
    (tmp_path / "sample.py").write_text(SAMPLE)
    subprocess.run([tmp_path / "venv/bin/python", "sample.py"], cwd=tmp_path, check=True)


def test_a_runtime_is_run_by_its_id_from_any_folder_in_an_odd_environment() -> None:
    rewarder, vnc = free_port(), free_port()
    printed = in_bare_container(
        f"""{install()}
umask 077 && cd /tmp && unset HOME && export HTTP_PROXY=http://127.0.0.1:9
{START.format(vnc=vnc, rewarder=rewarder)}
kill $! && wait $! || true
cat /tmp/printed
"""
    )
    assert f"  viewer    http://127.0.0.1:{rewarder}/viewer/?password=abc" in printed.splitlines()


def test_an_agent_on_aarch64_plays_a_remote_with_the_native_decoder() -> None:
    rewarder, vnc = free_port(), free_port()
    printed = in_bare_container(
        f"""{install()}
{START.format(vnc=vnc, rewarder=rewarder)}
{AARCH64}
cat >/tmp/agent.py <<'END'
import platform
import gymnasium
import pluriverse
import pluriverse.rfb

ADDRESS = "pluriverse://127.0.0.1:{rewarder}/?password=abc"
env = gymnasium.make("pluriverse/gym-core.PongDeterministic-v3", remotes=ADDRESS)
observation, info = env.reset(seed=1)
for _ in range(60):
    observation, *_ = env.step(env.action_space.sample())
env.close()
decoder, _, _ = pluriverse.rfb.implementation().partition(":")
print(platform.machine(), decoder, observation.any())
END
cd / && PYTHONPATH=/agent qemu-aarch64 -L /aarch64 /aarch64/usr/bin/python3.13 /tmp/agent.py
kill $! && wait $! || true
"""
    )
    assert printed.splitlines()[-1] == "aarch64 native True"
