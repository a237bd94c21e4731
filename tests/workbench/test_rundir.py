import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxlab.errors import UsageError
from ctxlab.workbench.results import RUN_ID
from ctxlab.workbench.rundir import clean_stale, writing

NOW = datetime(2026, 11, 30, 14, 22, tzinfo=UTC)
SHA = "3fa9c1d2" * 8


def test_a_run_is_moved_into_place_in_one_step(tmp_path):
    with writing(tmp_path, "e", NOW, SHA) as run:
        (run.path / "x").touch()
        assert run.run_id == "20261130T142200Z-3fa9c1d2"
        assert RUN_ID.fullmatch(run.run_id)
        assert not (tmp_path / "e" / run.run_id).exists()
        kept = run.keep()
    assert kept == tmp_path / "e" / run.run_id
    assert [path.name for path in kept.iterdir()] == ["x"]
    assert list((tmp_path / "e").iterdir()) == [kept]


def test_what_is_not_kept_is_gone(tmp_path):
    def interrupted():
        with writing(tmp_path, "e", NOW, SHA) as run:
            (run.path / "x").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "e").iterdir()) == []


def test_equal_runs_of_one_second_get_ids_of_their_own(tmp_path):
    ids = []
    with writing(tmp_path, "e", NOW, SHA) as first, writing(tmp_path, "e", NOW, SHA) as second:
        ids = [first.run_id, second.run_id]
        second.keep()
        first.keep()
    with writing(tmp_path, "e", NOW, SHA) as third:
        ids.append(third.run_id)
        third.keep()
    assert ids == [f"20261130T14220{n}Z-3fa9c1d2" for n in range(3)]
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ids


def test_only_what_killed_runs_left_is_cleaned(tmp_path):
    code = (
        "import os, signal; from ctxlab.workbench.rundir import writing\n"
        "from tests.workbench.test_rundir import NOW, SHA\nfrom pathlib import Path\n"
        f"with writing(Path({str(tmp_path)!r}), 'killed', NOW, SHA) as run:\n"
        "    (run.path / 'x').touch(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    with writing(tmp_path, "alive", NOW, SHA) as run:
        removed = clean_stale(tmp_path)
        assert [path.parent.name for path in removed] == ["killed"]
        assert run.path.exists()
        run.keep()
    assert clean_stale(tmp_path) == []
    assert list((tmp_path / "killed").iterdir()) == []


def test_a_results_directory_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        writing(tmp_path / "file", "e", NOW, SHA).__enter__()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written: Permission denied"):
        writing(Path(tmp_path), "e", NOW, SHA).__enter__()
