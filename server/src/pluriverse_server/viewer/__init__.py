"""The browser viewer: the remote's screen with its live state beside it, at ``/viewer/``.

``add_viewer`` puts it into the daemon's web application.
"""

from .hub import MAX_VIEWERS, ViewerHub
from .routes import add_viewer

__all__ = ["MAX_VIEWERS", "ViewerHub", "add_viewer"]
