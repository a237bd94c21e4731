import pytest

from ctxlab.masking import masked, masked_json


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("key sk-ant-api03-AAAAbbbbCCCC_dd-ee.", "key ***."),
        ("ghp_0123456789abcdefghij0123", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer ***"),
        ("https://user:hunter22@host/r.git", "https://***@host/r.git"),
        ("https://h/x?a=1&token=abc&b=2", "https://h/x?a=1&token=***&b=2"),
        ("Client(api_key='abcdefgh12')", "Client(api_key='***')"),
        ('{"client_secret": "abcdefgh12"}', '{"client_secret": "***"}'),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig-nature", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nAAA\n-----END RSA PRIVATE KEY-----\nx", "***\nx"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text, told):
    assert masked(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096, token_budget=12",
        "password: string, the user's password",
        '"secret": "The secret to read"',
        "http://localhost:8080/x?q=token",
        "task-force and risk-based",
        "the bearer of the ring",
        "asiaPacificRegionSales2",
        "iVBORw0KAIzaSyA0123456789abcdefghijklmnopqrstuvwxyz",
    ],
)
def test_what_only_speaks_of_secrets_stays(text):
    assert masked(text) == text


def test_values_of_secret_variables_are_masked(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "plain-looking-value")
    monkeypatch.setenv("MY_SERVICE_TOKENIZER", "o200k_base")
    monkeypatch.setenv("MY_KEY_FILE", "/etc/passwd")
    monkeypatch.setenv("SHORT_PASSWORD", "true")
    text = "plain-looking-value o200k_base /etc/passwd true"
    assert masked(text) == "*** o200k_base /etc/passwd true"
    assert masked_json({"a": ["plain-looking-value", 1, None]}) == {"a": ["***", 1, None]}
