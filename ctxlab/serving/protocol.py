"""HTTP as uvicorn speaks it, but what is no HTTP is refused in the API's form."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ctxlab.serving.door import Failed


class ApiProtocol(H11Protocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 could not read, and hang up."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reply = Failed(400, msg).reply
            body = reply.whole or b""
            length = (b"content-length", str(len(body)).encode())
            headers = [*reply.headers, length, (b"connection", b"close")]
            head = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
