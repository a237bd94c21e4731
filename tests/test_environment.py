import importlib.metadata as installed
import re

import yaml

from tests.environment_file import REPOSITORY, direct_names, environment, pins


def test_environment_yml_is_what_the_lock_and_pyproject_say():
    assert (REPOSITORY / "environment.yml").read_text() == environment()


def test_environment_yml_pins_every_direct_dependency_and_installs_us_editable():
    listed = yaml.safe_load((REPOSITORY / "environment.yml").read_text())["dependencies"]
    pip = listed[-1]["pip"]
    named = {re.split("==", line)[0] for line in pip}
    assert named == {*direct_names(), "-e ."}
    assert not any("--hash" in line for line in pip)


def test_the_lock_hashes_every_package_and_names_no_host():
    lock = (REPOSITORY / "requirements.lock").read_text()
    assert not re.search(r"https?://|--index|--find-links [^-]|file:", lock)
    blocks = re.split(r"\n(?=[a-z0-9])", lock.split("\n", 2)[2])
    assert all("--hash=sha256:" in block for block in blocks)


def test_what_is_installed_is_what_is_locked():
    locked = pins()
    for name in ("papermill", "anthropic", "tiktoken", "jupyterlab"):
        assert f"{name}=={installed.version(name)}" in [pin.split(" ;")[0] for pin in locked[name]]
