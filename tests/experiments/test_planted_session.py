import itertools

from ctxlab import project, read_tools
from ctxlab.cache import PromptCache
from ctxlab.experiments import planted_session
from ctxlab.experiments.sized import Clock
from ctxlab.sessions import read_sessions

TOOLS = read_tools("data/tools/agent.json")


def test_every_planted_break_reads_less_and_nothing_else_does():
    clock = Clock()
    cache = PromptCache(clock=clock)
    left, broken = 0, []
    for step in planted_session.steps(TOOLS):
        clock.now = step.at
        usage = cache.send(step.request)
        read = usage["cache_read_input_tokens"]
        if read < left:
            broken.append(step.number)
        left = read + usage["cache_creation_input_tokens"]
    assert broken == list(planted_session.BREAKS)
    assert len(broken) == 6


def test_requests_are_the_same_however_far_one_looks():
    whole = list(planted_session.steps(TOOLS))
    assert list(itertools.islice(planted_session.steps(TOOLS), 5)) == whole[:5]
    assert len({step.at for step in whole}) == planted_session.REQUESTS


def test_it_is_recorded_with_the_time_of_its_clock(tmp_path):
    planted_session.record(TOOLS, tmp_path / "log.jsonl", requests=3)
    (session,) = read_sessions(tmp_path / "log.jsonl")
    assert [each.time for each in session.exchanges] == [
        planted_session.START + planted_session.GAP * number for number in range(3)
    ]
    assert session.exchanges[0].has_body


def test_the_fixture_is_ours():
    assert project.resolve("data/tools/agent.json").is_file()
