"""A local endpoint for any agent: simulated answers, or somebody else's passed on; all recorded.

`serve` is what the command `ctxlab serve` calls. Third-party servers and clients are imported when
it is called.
"""

from ctxlab.serving.options import Options, read_replies
from ctxlab.serving.server import serve

__all__ = ["Options", "read_replies", "serve"]
