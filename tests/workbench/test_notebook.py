import json

import pytest

from ctxlab.errors import InputError, UsageError
from ctxlab.workbench.notebook import checked_entry, default_entry, read_notebook
from tests.workbench.fixtures import PARAMETERS, notebook


def edited(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def test_a_notebook_is_read(tmp_path):
    read = read_notebook(notebook(tmp_path / "01_x.ipynb", "1"))
    assert read.kernel == "python3"
    assert list(read.parameters) == ["corpus", "seed", "text", "live", "output_dir"]
    assert read.parameters["corpus"].meaning == "a file or tree"


def test_outputs_ids_and_metadata_are_no_source_but_tags_are(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "a = 1\nb = 2")
    source = read_notebook(path).source_sha256

    def noise(content):
        content["metadata"]["title"] = "x"
        content["cells"][2] |= {"id": "other", "execution_count": 4, "outputs": [{}]}
        content["cells"][2]["source"] = ["a = 1\n", "b = 2"]

    assert read_notebook(edited(path, noise)).source_sha256 == source
    changes = [
        lambda content: content["cells"][0].update(source="# Other"),
        lambda content: content["cells"][2].update(cell_type="raw"),
        lambda content: content["cells"][2].update(metadata={"tags": ["raises-exception"]}),
        lambda content: content["metadata"]["kernelspec"].update(name="other"),
        lambda content: content["cells"].reverse(),
    ]
    for change in changes:
        again = notebook(tmp_path / "y.ipynb", "a = 1\nb = 2")
        assert read_notebook(edited(again, change)).source_sha256 != source


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a notebook of format 4"),
        (b"\xff", "not a notebook of format 4"),
        (b"[]", "not a notebook of format 4"),
        (b'{"cells": [1], "nbformat": 4}', "not a notebook of format 4"),
        (b'{"worksheets": [], "nbformat": 3}', "not a notebook of format 4"),
        (b'{"cells": [], "nbformat": 5}', "not a notebook of format 4"),
        (b'{"cells": [], "nbformat": 4}', "tagged `parameters`, found none"),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path, content, told):
    (tmp_path / "x.ipynb").write_bytes(content)
    with pytest.raises(InputError, match=rf"x\.ipynb: .*{told}"):
        read_notebook(tmp_path / "x.ipynb")


def test_a_missing_notebook_is_told_with_its_neighbour(tmp_path):
    notebook(tmp_path / "01_tool_mutations.ipynb")
    with pytest.raises(InputError, match=r"did you mean .*/01_tool_mutations\.ipynb\?"):
        read_notebook(tmp_path / "1_tool_mutation.ipynb")
    with pytest.raises(InputError, match=r"no notebook is here$"):
        read_notebook(tmp_path / "no" / "x.ipynb")
    with pytest.raises(InputError, match="Is a directory"):
        read_notebook(tmp_path)


def test_the_parameters_cell_is_one_and_takes_output_dir(tmp_path):
    path = notebook(tmp_path / "x.ipynb", parameters="a: int = 1")
    with pytest.raises(InputError, match="lack `output_dir"):
        read_notebook(path)
    path = notebook(tmp_path / "x.ipynb", "2")
    edited(path, lambda content: content["cells"][2].update(metadata={"tags": ["parameters"]}))
    with pytest.raises(InputError, match="found 2"):
        read_notebook(path)
    path = notebook(tmp_path / "x.ipynb", parameters=PARAMETERS + "\nx: Frame = 1")
    with pytest.raises(InputError, match=r"x\.ipynb:parameters cell, line 7: `x`: `Frame`"):
        read_notebook(path)


def test_the_told_path_is_relative_inside_the_project(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    path = notebook(tmp_path / "notebooks" / "x.ipynb")
    assert read_notebook(path).told_path == "notebooks/x.ipynb"
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path / "other"))
    assert read_notebook(path).told_path == str(path.resolve())


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("01_tool_mutations.ipynb", "tool_mutations"),
        ("x/12-a b.ipynb", "a_b"),
        ("plain.ipynb", "plain"),
        ("3d.ipynb", "3d"),
    ],
)
def test_an_entry_is_the_name_without_its_number(name, entry):
    assert default_entry(name) == entry


@pytest.mark.parametrize("entry", ["", ".x", "a/b", "..", "baseline", "a b", "x" * 101, "-a"])
def test_an_entry_names_a_directory(entry):
    with pytest.raises(UsageError):
        checked_entry(entry)
