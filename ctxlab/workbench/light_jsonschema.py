"""Imported before nbformat: jsonschema then comes without rfc3987_syntax, and 1.4 s sooner.

jsonschema looks for that package to check IRIs, which no notebook's schema asks for, and the
package builds its whole grammar when it is imported. Where jsonschema is there already, or IRIs are
checked by somebody else, nothing changes.
"""

from __future__ import annotations

import sys
from importlib import import_module

_SLOW = "rfc3987_syntax"

if "jsonschema" not in sys.modules and _SLOW not in sys.modules:
    sys.modules[_SLOW] = None  # type: ignore[assignment]  # what `import` takes for not installed
    try:
        import_module("jsonschema")
    finally:
        del sys.modules[_SLOW]
