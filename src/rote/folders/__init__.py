"""Model folders on disk: written whole or not at all, read back, verified.

What needs tensors is imported on first use: whether a folder can be written, and how the facts of one
were read, is known without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rote.lazy import lazy_names

if TYPE_CHECKING:
    from rote.folders.folder import Folder as Folder
    from rote.folders.folder import load as load
    from rote.folders.folder import read_folder as read_folder
    from rote.folders.folder import write_folder as write_folder
    from rote.folders.verification import CertificateCheck as CertificateCheck
    from rote.folders.verification import Verification as Verification
    from rote.folders.verification import verify as verify

__getattr__, __dir__ = lazy_names(__name__)
