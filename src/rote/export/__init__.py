"""Model folders and certificates."""

from rote.export.certificate import Certificate as Certificate
from rote.export.folder import Folder as Folder
from rote.export.folder import read_folder as read_folder
from rote.export.folder import write_folder as write_folder
from rote.export.verify import Check as Check
from rote.export.verify import Verification as Verification
from rote.export.verify import verify as verify
