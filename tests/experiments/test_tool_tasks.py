from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError
from ctxlab.experiments.tool_search_registry import own_name
from ctxlab.experiments.tool_tasks import feasible, load_tasks
from ctxlab.loading.words import words
from ctxlab.prefix import read_tools


def says(text, name):
    """Whether the words of a name stand in a text, one behind the other."""
    said, own = words(text), words(name)
    return any(said[n : n + len(own)] == own for n in range(len(said)))


def test_no_task_says_its_tools_own_name():
    for task in load_tasks():
        for tool in task.tools:
            name = own_name({"name": tool})
            assert not says(task.task, name), (task.id, name)
            assert not says(" ".join(task.keywords), name), (task.id, name)


def test_a_name_is_noticed_however_it_is_written():
    assert says("Please get events", "get_events")
    assert says("call getEvents", "getEvents")
    assert not says("get me the events", "get_events")


def test_there_are_about_sixty_with_one_to_four_keywords_and_no_two_alike():
    tasks = load_tasks()
    assert 55 <= len(tasks) <= 75
    assert len({task.task for task in tasks}) == len(tasks)
    assert all(1 <= len(task.keywords) <= 4 for task in tasks)


@pytest.mark.data
def test_every_tool_of_every_task_is_in_the_registry():
    names = {tool["name"] for tool in read_tools("data/cache/toolsets/registry.json")}
    tasks = load_tasks()
    assert not [tool for task in tasks for tool in task.tools if tool not in names]
    assert feasible(tasks, names) == tasks
    assert feasible(tasks, ["mcp__other__tool"]) == []


GOOD = {"id": "a", "task": "Do it.", "keywords": ["do"], "tools": ["s/t"]}


@pytest.mark.parametrize(
    ("content", "words_"),
    [
        ("{", r"tasks.json:1:2: not JSON"),
        ("{}", r"tasks.json: expected a list of tasks"),
        (json.dumps([GOOD, 3]), r"tasks.json:\[1\]: expected an object"),
        (json.dumps([GOOD | {"task": " "}]), r"\[0\].task: expected a text"),
        (json.dumps([GOOD | {"keywords": []}]), r"\[0\].keywords: expected a list of texts"),
        (json.dumps([GOOD | {"tools": ["t"]}]), r"\[0\]: expected server/tool, found 't'"),
        (json.dumps([GOOD, GOOD]), r"\[1\].id: 'a' is used twice"),
    ],
)
def test_a_file_that_is_none(tmp_path, content, words_):
    file = tmp_path / "tasks.json"
    file.write_text(content)
    with pytest.raises(InputError, match=words_):
        load_tasks(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_tasks(tmp_path / "none.json")
