import pytest

from ctxlab.errors import UsageError
from ctxlab.workbench import identity
from ctxlab.workbench.prepare import needed_runs, prepare
from tests.workbench.fixtures import PARAMETERS, notebook
from tests.workbench.test_results import FAILED, make_run


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    (tmp_path / "requirements.lock").write_text("a==1\n")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "x.py").write_text("1")
    notebook(tmp_path / "01_x.ipynb", "1")
    return tmp_path


def sha(root, **passed):
    return prepare(root / "01_x.ipynb", passed).inputs_sha256


def test_equal_inputs_are_equal_however_they_are_passed(root):
    assert sha(root) == sha(root, seed=7) == sha(root, text="x", seed=7)
    assert sha(root, corpus="corpus") == sha(root, corpus=root.joinpath("corpus").relative_to(root))


def test_whatever_a_run_depends_on_changes_it(root, monkeypatch):
    found = [sha(root, corpus="corpus")]
    (root / "corpus" / "x.py").write_text("2")
    found.append(sha(root, corpus="corpus"))
    found.append(sha(root, corpus="corpus", seed=8))
    found.append(sha(root))
    (root / "requirements.lock").write_text("a==2\n")
    found.append(sha(root))
    notebook(root / "01_x.ipynb", "2")
    found.append(sha(root))
    monkeypatch.setattr(identity, "source_sha256", lambda: "other")
    found.append(sha(root))
    assert len(set(found)) == len(found)


def test_commit_place_and_name_do_not_count(root, tmp_path_factory):
    elsewhere = notebook(tmp_path_factory.mktemp("y") / "other.ipynb", "1")
    assert prepare(elsewhere, {}, entry="e").inputs_sha256 == sha(root)


def test_the_tables_of_needed_entries_count(root):
    results = root / "results"

    def with_need():
        return prepare(root / "01_x.ipynb", {}, needs=needed_runs("a", results)).inputs_sha256

    with pytest.raises(UsageError, match="no successful run of the needed entry 'a'"):
        with_need()
    assert needed_runs("a", results, partial=True) == []
    make_run(results, "a", 1)
    found = [sha(root), with_need()]
    make_run(results, "a", 3, **FAILED)
    assert with_need() == found[1]
    make_run(results, "a", 2)  # other numbers
    found.append(with_need())
    assert len(set(found)) == 3


def test_data_is_told_by_path_with_size(root):
    (root / "tools.json").write_text("[]")
    cell = PARAMETERS + "\nsets: list[Path] = []  # more"
    notebook(root / "01_x.ipynb", parameters=cell)
    job = prepare(root / "01_x.ipynb", {"corpus": "corpus", "sets": ["tools.json", "corpus"]})
    assert [(datum.path, datum.bytes) for datum in job.data] == [("corpus", 1), ("tools.json", 2)]


def test_a_tree_that_several_runs_name_is_hashed_once(root, monkeypatch):
    known = {}
    prepare(root / "01_x.ipynb", {"corpus": "corpus"}, known=known)
    monkeypatch.setattr(identity.digests, "content", None)
    job = identity.data(prepare_read(root), {"corpus": "corpus"}, known)
    assert job[0].bytes == 1


def prepare_read(root):
    from ctxlab.workbench.notebook import read_notebook

    return read_notebook(root / "01_x.ipynb")


def test_our_own_source_is_every_file_but_compiled_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(identity, "_PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text("1")
    before = identity.source_sha256()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").touch()
    (tmp_path / ".a.py.swp").touch()
    assert identity.source_sha256() == before
    (tmp_path / "page.css").touch()
    assert identity.source_sha256() != before


def test_a_table_that_the_package_reads_by_itself_is_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    (tmp_path / "data").mkdir()
    before = identity.source_sha256()
    (tmp_path / "data" / "cache_rules.toml").write_text("a = 1")
    assert identity.source_sha256() != before
