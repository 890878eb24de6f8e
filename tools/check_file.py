"""Refuse a fetched file whose SHA-256 is not the one that is expected, and remove it.

python tools/check_file.py FILE SHA256
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

path, expected = Path(sys.argv[1]), sys.argv[2]
found = hashlib.sha256(path.read_bytes()).hexdigest()
if found != expected:
    path.unlink()
    sys.exit(f"{path.name}: its SHA-256 is {found}, not {expected}; removed")
