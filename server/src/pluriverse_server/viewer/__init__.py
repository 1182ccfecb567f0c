"""The browser viewer: the remote's screen with its live state beside it, at ``/viewer/``.

``Viewer`` puts it into the daemon's web application.
"""

from .routes import Viewer
from .sessions import MAX_VIEWERS, ViewerSessions

__all__ = ["MAX_VIEWERS", "Viewer", "ViewerSessions"]
