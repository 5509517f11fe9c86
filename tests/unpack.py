"""Unpacks archives of images, because tarfile's filters are newer than Debian 12's Python."""
import tarfile


def unpack(path, folder, trusted=False):
    """Unpacks the archive in @folder. Keeps absolute names and links if it is @trusted."""
    filters = {"filter": "fully_trusted" if trusted else "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(path) as archive:
        archive.extractall(folder, **filters)
