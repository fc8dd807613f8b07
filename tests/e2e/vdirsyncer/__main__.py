"""vdirsyncer's command line, which knows books of ContactMesh too."""

from tests.e2e.vdirsyncer.storage import BookStorage
from vdirsyncer.cli import app
from vdirsyncer.cli.utils import storage_names

storage_names._storages[BookStorage.storage_name] = BookStorage

if __name__ == "__main__":
    app()
