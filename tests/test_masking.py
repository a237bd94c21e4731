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
        ("ANTHROPIC_API_KEY=sk-ant-api03-AAAAbbbbCCCC_dd", "ANTHROPIC_API_KEY=***"),
        ("run --api-key=sk-ant-api03-AAAAbbbbCCCC_dd now", "run --api-key=*** now"),
        ("K=AKIAIOSFODNN7EXAMPLE", "K=***"),
        ("POST /v1/sk-ant-api03-AAAAbbbbCCCC_dd", "POST /v1/***"),
        ("key=ghp_0123456789abcdefghij0123", "key=***"),
        ("token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig-nature", "token=***"),
        ("BEARER abcdef0123456789abcdef", "BEARER ***"),
        ("Bearer\t  abcdef0123456789abcdef", "Bearer\t  ***"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic ***"),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=***",
        ),
        ("password=hunter2222 user=me", "password=*** user=me"),
        ("https://h/x?x-api-key=abc&access_key=def", "https://h/x?x-api-key=***&access_key=***"),
        ("ya29.a0AfH6SMBxxxxxxxxxxxx1", "***"),
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
        "api_key=os.environ['KEY'], password=password, token=tokenizer.encode",
        "cache_key=tools_fingerprint max_tokens=4096 NEXT_TOKEN=12",
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
