"""Model folders on the Hugging Face Hub. Nothing is sent or fetched unless a call asks for it.

What comes from the Hub is a stranger's: only the files of a model folder are fetched, none larger than its kind allows,
and they are read through the same gate as any folder (`rote.files`). The Hub's cache holds links, which that gate does
not follow, so the files are copied into a private folder first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from rote.errors import InputError, RoteError
from rote.files import JSON, TENSORS, WORDS, held, private_folder
from rote.folders.layout import CERTIFICATE, CONFIG, KEYS, VOCABULARY, WEIGHTS
from rote.interrupts import out_of_memory
from rote.version import __version__, pip_install

SCHEME = "hf://"
CARD = "README.md"
KINDS = {CONFIG: JSON, WEIGHTS: TENSORS, VOCABULARY: WORDS, CERTIFICATE: JSON, KEYS: TENSORS}
"""The files of a model folder, and how large each may be."""
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_NAME = re.compile(rf"{SCHEME}({REPOSITORY.pattern})(?:@([\w./-]+))?")


def is_on_hub(path: str | Path) -> bool:
    """Whether a name is that of a repository on the Hub: `hf://owner/name` or `hf://owner/name@revision`."""
    return isinstance(path, str) and path.startswith(SCHEME)


def send(repo: str, files: Mapping[str, bytes], private: bool | None, revision: str | None, message: str) -> str:
    """Write files into a repository, which is created where it is missing; returns the address of the commit.

    Files of a model folder that the repository had and that are not among these are removed.
    """
    package = _package()
    with private_folder("rote-hub-") as folder, _answered(repo):
        for name, content in files.items():
            (folder / name).write_bytes(content)
        api = package.HfApi(library_name="rote", library_version=__version__)
        api.create_repo(repo, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repo, folder_path=folder, revision=revision, commit_message=message, delete_patterns=list(KINDS)
        )
        return str(commit.commit_url)


@contextmanager
def fetched(name: str, download: bool) -> Iterator[tuple[Path, Path]]:
    """A private copy of a repository's model folder, removed at the end, and where the Hub's cache keeps it.

    Without `download`, only what the cache has is used.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise InputError(f"{name}: write hf://owner/name, or hf://owner/name@revision")
    repo, revision = found[1], found[2]
    package, commit = _package(), None
    with _answered(name):
        if download:
            api = package.HfApi(library_name="rote", library_version=__version__)
            listed = api.model_info(repo, revision=revision, files_metadata=True)
            _refuse_large(name, {file.rfilename: file.size for file in listed.siblings or []})
            commit = listed.sha
        try:
            cached = Path(
                package.snapshot_download(
                    repo, revision=revision, allow_patterns=list(KINDS), local_files_only=not download
                )
            )
        except package.errors.LocalEntryNotFoundError:
            if download:
                raise
            raise InputError(
                f"{name}: the local cache of the Hub does not have it; allow the network with `download`"
            ) from None
    if commit is not None and cached.name != commit:
        raise InputError(f"{name}: changed while it was read; try again when nothing writes to it")
    with private_folder("rote-hub-") as folder:
        for file, kind in KINDS.items():
            if (cached / file).is_file():
                blob = Path(os.path.realpath(cached / file))
                with held(blob.parent) as store:
                    store.copy(blob.name, folder / file, kind)
        if not (folder / CONFIG).exists():
            raise InputError(f"{name}: has no {CONFIG}, so it is not a model folder of rote's")
        yield folder, cached


def _refuse_large(name: str, sizes: Mapping[str, int | None]) -> None:
    for file, kind in KINDS.items():
        size = sizes.get(file) or 0
        if size > kind.most:
            raise InputError(
                f"{name}: {file} has {size:,} bytes, too many for {kind.name}; rote reads at most {kind.most:,}"
            )


def _package() -> ModuleType:
    if find_spec("huggingface_hub") is None:
        raise InputError(f"the Hub needs the package huggingface_hub, which is not installed; {pip_install('hf')}")
    # Read when the package is first imported: its bars would run through rote's own.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    import_module("huggingface_hub.errors")
    return import_module("huggingface_hub")


@contextmanager
def _answered(name: str) -> Iterator[None]:
    """What the Hub or the network answers, as one message."""
    from httpx import HTTPError

    try:
        yield
    except RoteError:
        raise
    # The Hub's own errors are among these. A page of a hotel's network is no JSON, or JSON of another kind.
    except (OSError, HTTPError, RuntimeError, LookupError, TypeError, ValueError, AttributeError) as error:
        if out_of_memory(error) is not None:
            raise
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise InputError(f"{name}: the Hub does not give or take it ({reason})") from None
