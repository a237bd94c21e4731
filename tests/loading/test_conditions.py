from __future__ import annotations

import tomllib

import pytest

from ctxlab import project
from ctxlab.errors import UsageError
from ctxlab.loading.conditions import (
    Mode,
    Setting,
    deciding,
    is_capable,
    is_first_party,
    is_google,
    read_mode,
)

PROXY = "https://llm.proxy.example/v1"


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (None, Mode("unset")),
        ("", Mode("unset")),
        ("true", Mode("true")),
        (" TRUE ", Mode("true")),
        ("false", Mode("false")),
        ("auto", Mode("auto", 10)),
        ("auto:5", Mode("auto", 5)),
        ("auto:0", Mode("auto", 0)),
        ("auto:100", Mode("auto", 100)),
        ("auto:2.5", Mode("auto", 2.5)),
    ],
)
def test_modes(text, mode):
    assert read_mode(text) == mode


@pytest.mark.parametrize("text", ["yes", "1", "auto:", "auto:-5", "auto:101", "auto:5%", "auto 5"])
def test_a_text_that_is_no_mode(text):
    with pytest.raises(UsageError, match="true, auto, auto:N") as refused:
        read_mode(text)
    assert repr(text) in str(refused.value)


def decided(mode, **setting):
    return deciding(Setting(read_mode(mode), **setting))[0].id


@pytest.mark.parametrize(
    ("mode", "setting", "condition"),
    [
        (None, {}, "deferred"),
        ("true", {}, "deferred"),
        ("auto", {}, "threshold"),
        ("false", {}, "false"),
        (None, {"base_url": "https://api.anthropic.com"}, "deferred"),
        (None, {"base_url": PROXY}, "base_url"),
        ("true", {"base_url": PROXY}, "deferred"),
        ("auto", {"base_url": PROXY}, "threshold"),
        (None, {"platform": "vertex"}, "platform"),
        ("true", {"platform": "vertex"}, "deferred"),
        (None, {"platform": "bedrock"}, "deferred"),
        ("true", {"betas_disabled": True}, "betas_disabled"),
        ("auto", {"betas_disabled": True}, "betas_disabled"),
        (None, {"betas_disabled": True, "model": "claude-opus-5"}, "betas_disabled"),
        ("true", {"model": "claude-haiku-3-5"}, "model"),
        (None, {"model": "claude-sonnet-4-5"}, "deferred"),
    ],
)
def test_which_condition_decides(mode, setting, condition):
    assert decided(mode, **setting) == condition


def test_the_reason_names_what_decided():
    told = {
        "model": deciding(Setting(read_mode(None), model="claude-opus-4-1"))[1],
        "base_url": deciding(Setting(read_mode(None), base_url=PROXY))[1],
        "auto": deciding(Setting(read_mode("auto:5")))[1],
    }
    assert "claude-opus-4-1 does not read tool_reference" in told["model"]
    assert "(llm.proxy.example)" in told["base_url"]
    assert "ENABLE_TOOL_SEARCH is auto:5" in told["auto"]
    assert "5 % of the context window" in told["auto"]


def test_capable_models_are_those_of_the_cache_rules():
    with (project.data_dir() / "cache_rules.toml").open("rb") as file:
        table = tomllib.load(file)
    capable = next(row for row in table["capability"] if row["name"] == "tool_search")["models"]
    known = [model for row in table["minimum"] for model in row["models"]]
    assert known
    assert [model for model in known if is_capable(model)] == [m for m in known if m in capable]


@pytest.mark.parametrize(
    ("model", "capable"),
    [
        (None, True),
        ("claude-opus-4-20250514", False),
        ("claude-opus-4-1-20250805", False),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("claude-3-7-sonnet-latest", False),
        ("claude-3-5-haiku@20241022", False),
        ("claude-opus-4.8", True),
        ("claude-sonnet-6", True),
        ("claude-opus-10", True),
        ("my-gateway-model", True),
    ],
)
def test_models_by_version(model, capable):
    assert is_capable(model) is capable


@pytest.mark.parametrize(
    ("url", "first"),
    [
        (None, True),
        ("", True),
        ("https://api.anthropic.com/", True),
        ("https://API.Anthropic.com:443/v1", True),
        ("https://anthropic.com.evil.example", False),
        ("https://notanthropic.com", False),
        ("http://127.0.0.1:4000", False),
        ("https://api.anthropic.com@evil.example", False),
    ],
)
def test_first_party(url, first):
    assert is_first_party(url) is first


@pytest.mark.parametrize("url", ["proxy.example", "ftp://x.example", "https://", "https://[::1"])
def test_a_base_url_that_is_none(url):
    with pytest.raises(UsageError, match="base_url starts with"):
        is_first_party(url)


def test_platforms():
    assert [is_google(name) for name in ("vertex", "Vertex AI", "google-agent-platform")] == [
        True
    ] * 3
    assert [is_google(name) for name in (None, "anthropic", "bedrock", "Foundry")] == [False] * 4
    with pytest.raises(UsageError, match="platform is anthropic, vertex, bedrock or foundry"):
        is_google("mars")
