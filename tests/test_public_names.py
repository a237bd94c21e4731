import subprocess
import sys

import pytest

import ctxlab


@pytest.mark.parametrize("module", ctxlab._MODULES)
def test_every_public_name_is_where_the_table_says(module):
    home = pytest.importorskip(f"ctxlab.{module}")
    for name in ctxlab._MODULES[module].split():
        assert getattr(ctxlab, name) is getattr(home, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = ctxlab.nope


def test_importing_ctxlab_and_its_command_loads_nothing_heavy():
    heavy = [
        "pandas",
        "numpy",
        "matplotlib",
        "anthropic",
        "mcp",
        "papermill",
        "nbconvert",
        "tiktoken",
    ]
    code = f"import sys, ctxlab, ctxlab.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
