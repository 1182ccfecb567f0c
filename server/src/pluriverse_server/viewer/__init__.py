"""The browser viewer: the remote's screen with its live state beside it, at ``/viewer/``.

``add_viewer`` puts it into the daemon's web application.
"""

from .routes import add_viewer
from .sessions import MAX_VIEWERS, ViewerSessions

__all__ = ["MAX_VIEWERS", "ViewerSessions", "add_viewer"]
