"""Sessions that a remote may be started from: one whose variables all mean harm to what it starts, and an empty one."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

# Programs say what they say in this language, where the machine has it.
GERMAN: Final = "de_DE.UTF-8"

# What no child may ever have of it, whatever the folder.
VARIABLES: Final = {
    "COLUMNS": "40",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    "FAKETIME": "@2001-01-01 00:00:00",
    "GDK_BACKEND": "wayland",
    "GDK_SCALE": "2",
    "GTK_IM_MODULE": "ibus",
    "GTK_THEME": "Adwaita:dark",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "LANG": GERMAN,
    "LANGUAGE": "de",
    "LC_ALL": GERMAN,
    "PYTHONHASHSEED": "7",
    "PYTHONINSPECT": "1",
    "QT_QPA_PLATFORM": "wayland",
    "SDL_RENDER_DRIVER": "opengl",
    "SDL_VIDEODRIVER": "wayland",
    "TERM": "dumb",
    "TZ": "America/New_York",
    "WAYLAND_DISPLAY": "wayland-0",
    "XDG_SESSION_TYPE": "wayland",
    "XKB_DEFAULT_LAYOUT": "de",
    "XMODIFIERS": "@im=ibus",
    "http_proxy": "http://127.0.0.1:9",
    "no_proxy": "nowhere.example",
}

# A module of Python's that everything of ours imports.
POISON: Final = "raise SystemExit('a module of the session was imported')\n"
RESOURCES: Final = "*foreground: red\n*background: yellow\n*font: 10x20\n*geometry: 30x8\n"
PRELOADED: Final = "unsigned int sleep(unsigned int seconds) { return seconds; }\n"


def empty(folder: Path) -> dict[str, str]:
    """Return the least that a daemon can be started with."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}


def hostile(folder: Path) -> dict[str, str]:
    """Return the variables of a session whose files are in a new ``folder``."""
    home = folder / "home"
    for name in ("config/gtk-3.0", "data", "cache", "state", "run", "app-defaults", "locales"):
        (home / name).mkdir(parents=True)
    (home / "config/gtk-3.0/settings.ini").write_text("[Settings]\ngtk-font-name=Sans 24\n")
    for name in (".Xdefaults", "Xenvironment", "app-defaults/XTerm"):
        (home / name).write_text(RESOURCES)
    (home / "startup.py").write_text(POISON)
    poisoned = folder / "poisoned"
    poisoned.mkdir()
    (poisoned / "selectors.py").write_text(POISON)
    locales = {}
    if shutil.which("localedef"):
        made = ["localedef", "-c", "-i", "de_DE", "-f", "UTF-8", str(home / "locales" / GERMAN)]
        subprocess.run(made, check=False, capture_output=True)
        locales["LOCPATH"] = str(home / "locales")
    library = folder / "preloaded.so"
    subprocess.run(["cc", "-shared", "-o", str(library), "-x", "c", "-"], input=PRELOADED.encode(), check=True)
    return {
        **VARIABLES,
        **locales,
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FONTCONFIG_FILE": str(folder / "nonexistent.conf"),
        "LD_PRELOAD": str(library),
        "PYTHONPATH": str(poisoned),
        "PYTHONSTARTUP": str(home / "startup.py"),
        "XAPPLRESDIR": str(home / "app-defaults"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_DIRS": str(home / "data"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "XDG_STATE_HOME": str(home / "state"),
        "XENVIRONMENT": str(home / "Xenvironment"),
        "XFILESEARCHPATH": str(home / "app-defaults/%N"),
    }
