"""RFB (RFC 6143) as bytes, free of I/O: the messages of VNC clients and servers, and their limits."""
