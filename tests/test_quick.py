import subprocess
import sys

HEAVY = ["pydantic", "pandas", "numpy", "papermill", "nbformat", "jinja2", "matplotlib", "rich"]


def test_listing_runs_loads_nothing_heavy(tmp_path):
    code = (
        "import sys\nfrom ctxlab.cli import app\n"
        f"app(['list', '--results', {str(tmp_path)!r}], standalone_mode=False)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"no runs in {tmp_path}", "[]"]


def test_flags_and_texts_arrive_as_they_are(tmp_path):
    command = [sys.executable, "-m", "ctxlab.cli", "list"]
    asked = subprocess.run(
        [*command, "x y", "--json", "--results", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 2
    assert "no run of the entry 'x y'" in asked.stderr
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "--results" in helped.stdout
