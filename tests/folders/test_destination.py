"""Where a folder cannot be written is found out before the work, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rote.errors import InputError
from rote.folders import write_folder
from rote.folders.destination import check_destination
from rote.tasks import Origin


def test_a_path_that_can_be_written_is_accepted_and_stays_untouched(tmp_path):
    check_destination(tmp_path / "model")
    check_destination(tmp_path / "not" / "yet" / "there" / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_file_among_the_parents_is_named_as_the_cause(tmp_path):
    (tmp_path / "facts.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"cannot be written \(Not a directory; a folder of the path is a file"):
        check_destination(tmp_path / "facts.csv" / "model")


def test_a_place_of_the_system_that_takes_no_folders():
    with pytest.raises(InputError, match="/proc/model: cannot be written"):
        check_destination(Path("/proc/model"))


def test_a_name_too_long_for_the_system(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        check_destination(tmp_path / ("m" * 5000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied; choose a place that you may write to"):
        check_destination(tmp_path / "model")
    tmp_path.chmod(0o700)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB, where the system allows one to be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_one_message_and_nothing_stays_on_it(small_disk, model):
    (small_disk / "ballast").write_bytes(b"0" * 60_000)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device; free some space"):
        write_folder(small_disk / "model", model, Origin(source="x" * 10_000), {}, None)
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]
