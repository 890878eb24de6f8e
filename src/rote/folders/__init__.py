"""Model folders on disk: written whole or not at all, read back, verified."""

from rote.folders.folder import Folder as Folder
from rote.folders.folder import read_folder as read_folder
from rote.folders.folder import write_folder as write_folder
from rote.folders.verify import Check as Check
from rote.folders.verify import Verification as Verification
from rote.folders.verify import verify as verify
