"""RFB (RFC 6143) as bytes, free of I/O: what clients and servers of VNC say to each other, and how much they may."""
