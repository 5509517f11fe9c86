"""The cache of checks for downloads and builds, outside of the tree, so that `make clean` keeps it."""
import os


def download_cache(name):
    """~/.cache/firesteel-NAME, or below XDG_CACHE_HOME. It may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, f"firesteel-{name}")
