# ruff: noqa: E501  one sample a line is what is read here
from __future__ import annotations

import pytest

from ctxlab.truncation.kinds import recognise

SAMPLES = {
    "python": ("code", "import os\n\n\ndef f(x):\n    return os.path.join(x, 'a')\n\n\nclass A:\n    pass\n"),
    "javascript": ("code", "const a = require('a');\n\nfunction f(x) {\n  return a(x);\n}\n\nmodule.exports = { f };\n"),
    "typescript": ("code", "import { a } from './a';\n\nexport interface B {\n  c: string;\n}\n\nexport const d = (b: B): string => a(b.c);\n"),
    "tsx": ("code", "import React from 'react';\n\nexport const App = (): JSX.Element => <div className=\"a\">hi</div>;\n\nexport default App;\n"),
    "go": ("code", 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(1)\n}\n'),
    "java": ("code", "package a.b;\n\nimport java.util.List;\n\npublic class A {\n  private int b;\n\n  public int c() { return b; }\n}\n"),
    "rust": ("code", 'use std::fs;\n\npub fn main() -> Result<(), E> {\n    let a = fs::read("a")?;\n    Ok(())\n}\n'),
    "c": ("code", "#include <stdio.h>\n\nstatic int f(int x) {\n  return x + 1;\n}\n\nint main(void) { return f(1); }\n"),
    "c header": ("code", "/* A */\n#ifndef A_H\n#define A_H\n\nint f(int x);\n\n#endif\n"),
    "stamped": ("log", "2026-11-30 14:00:00,123 INFO a: b, c\n2026-11-30 14:00:01,123 INFO a: d, e\n"),
    "iso": ("log", "2026-11-30T14:00:00.123Z info starting\n2026-11-30T14:00:01.123Z info started\n"),
    "syslog": ("log", "Nov 30 14:00:00 host sshd[1]: Accepted\nNov 30 14:00:01 host sshd[1]: Closed\n"),
    "nginx": ("log", '10.0.0.1 - - [30/Nov/2026:14:00:00 +0000] "GET / HTTP/1.1" 200 5\n' * 3),
    "kubernetes": ("log", "I1130 14:00:00.000000       1 main.go:1] up\nE1130 14:00:01.000000       1 main.go:2] down\n"),
    "compose": ("log", "web-1  | 2026-11-30 14:00:00 up\ndb-1   | 2026-11-30 14:00:01 up\n"),
    "kernel": ("log", "[    0.000000] Linux version 6.1\n[    0.000001] Command line: x\n"),
    "levels": ("log", "INFO: up\nWARNING: disk is full\nERROR: down\n"),
    "logfmt": ("log", 'time="2026-11-30T14:00:00Z" level=info msg=up\ntime="2026-11-30T14:00:01Z" level=error msg=down\n'),
    "java trace": ("log", 'Exception in thread "main" java.lang.IllegalStateException: a\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n'),
    "python trace": ("log", 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: a\n'),
    "pytest": ("log", "============ test session starts ============\ncollected 2 items\n\na.py::b PASSED\na.py::c FAILED\n"),
    "go test": ("log", "--- FAIL: TestA (0.00s)\n    a_test.go:5: b\nFAIL\n--- PASS: TestB (0.00s)\n"),
    "gcc": ("log", "a.c:1:2: warning: unused variable 'x'\n    1 | int x;\n      |     ^\na.c:5:1: error: expected ';'\n"),
    "git log": ("log", "commit 150f30f87d89f1de3d630c8fee3514a6a65f999b\nAuthor: A\nDate:   now\n\n    b\n\ncommit 250f30f87d89f1de3d630c8fee3514a6a65f999b\nAuthor: A\nDate:   now\n\n    c\n"),
    "array": ("json", '[1, 2, {"a": [3]}]'),
    "object": ("json", '  {"a": "b"}\n'),
    "json string": ("json", '"one long text\\nof two lines"'),
    "ndjson": ("ndjson", '{"a": 1}\n{"b": [2]}\n'),
    "json logs": ("ndjson", '{"level":"info","ts":1}\n{"level":"error","ts":2}\n'),
    "csv": ("csv", "id,name,score\n1,a,0.5\n2,b,0.7\n"),
    "csv with times": ("csv", "time,a,b\n2026-11-30 14:00:00,1,2\n2026-11-30 14:00:01,3,4\n"),
    "semicolons": ("csv", "id;name;score\n1;a;0,5\n2;b;0,7\n"),
    "tabs": ("csv", "id\tname\n1\ta\n2\tb\n3\tc\n4\td\n"),
    "quoted csv": ("csv", 'a,b,c\n"x, y","1\n2",3\n"z ""w""",4,5\n'),
    "markdown": ("markdown", "# Title\n\nText with [a link](http://a.b) and **bold**.\n\n- one\n- two\n- three\n"),
    "headings": ("markdown", "# A\n\ntext\n\n## B\n\ntext\n"),
    "fences": ("markdown", "Do this:\n\n```sh\nmake\n```\n\nThen that.\n"),
    "setext": ("markdown", "Title\n=====\n\ntext\n\nOther\n-----\n\ntext\n"),
    "markdown with code": ("markdown", "# A\n\n```python\nimport os\n\ndef f():\n    pass\n```\n\n## B\n\n```python\nimport re\n```\n"),
    "git diff": ("diff", "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
    "unified diff": ("diff", "--- x\t2026\n+++ y\t2026\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
    "grep -n": ("search", "src/a.py:1:import os\nsrc/b.py:22:import re\n"),
    "rg headings": ("search", "src/a.py\n1:import os\n5:import re\n\nsrc/b.py\n22:import re\n"),
    "ours": ("search", 'Found 2 matches in 1 file for "import"\n\nsrc/a.py\n1:import os\n5:import re\n'),
    "tags": ("search", '2 matches\n<match path="/a" line=1>\nimport os\n</match>\n<match path="/b" line=2>\nimport re\n</match>\n'),
    "windows grep": ("search", "C:\\src\\a.py:1:import os\nC:\\src\\b.py:22:import re\n"),
    "log lines found": ("search", "app.log:1:2026-11-30 14:00:00 INFO up\napp.log:9:2026-11-30 14:00:09 INFO up\n"),
    "prose": ("plain", "Dear all, we meet at noon.\nPlease bring your own cup, and a book.\n"),
    "prose with a comma a line": ("plain", "Hello, you\nGood day, sir\nFarewell, all\n"),
    "listing": ("plain", "src/a.py\nsrc/b.py\nREADME.md\n"),
    "yaml": ("plain", "# the service\nname: a\nports:\n  - 80\n\n# more\nother: b\n"),
    "ini": ("plain", "[a]\nb = 1\n\n[c]\nd = 2\n"),
    "shell": ("plain", "# set up\nexport A=1\ncd /tmp\nls\n"),
    "html": ("plain", "<html>\n<body>\n<p>a</p>\n</body>\n</html>\n"),
    "broken json": ("plain", '{"a": 1, "b": \n'),
    "python repr": ("plain", "[{'a': 1}, {'b': None}]"),
    "a number": ("plain", "123456"),
    "nothing": ("plain", ""),
    "blank": ("plain", " \n\t\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_each_kind_is_told_by_its_signs(name):
    kind, text = SAMPLES[name]
    assert recognise(text) == kind


@pytest.mark.parametrize("name", SAMPLES)
def test_windows_line_ends_change_nothing(name):
    kind, text = SAMPLES[name]
    assert recognise(text.replace("\n", "\r\n")) == kind
