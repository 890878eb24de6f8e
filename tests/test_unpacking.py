"""gzip within bounds; archives and their XML are in tests/tasks/test_workbooks.py."""

import gzip
import random

import pytest

from rote.errors import InputError
from rote.unpacking import SMALL, most_unpacked, unpacked_gzip

TEXT = b"key,answer\na,b\n"


def test_members_are_joined_and_zeros_behind_them_ignored():
    assert unpacked_gzip(gzip.compress(TEXT) + gzip.compress(b"c,d\n") + b"\0" * 9, "x") == TEXT + b"c,d\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(TEXT)[:-3], "ends too early"),
        (gzip.compress(TEXT) + b"more", "cannot be unpacked"),
        (b"text", "cannot be unpacked"),
        (gzip.compress(b"x" * (SMALL + 1)), "unpack to more than 16,777,216"),
        (gzip.compress(b"x" * (SMALL // 2)) * 3, "unpack to more than 16,777,216"),
    ],
    ids=["cut", "more", "other", "bomb", "bomb of members"],
)
def test_what_is_damaged_or_unpacks_to_much_is_rejected(data, message):
    with pytest.raises(InputError, match=message):
        unpacked_gzip(data, "x.gz")


def test_a_large_file_may_unpack_to_more():
    data = random.Random(0).randbytes(2**18) + b"x" * SMALL
    assert unpacked_gzip(gzip.compress(data, 1), "x.gz") == data


def test_many_members_take_no_longer_than_their_bytes():
    assert unpacked_gzip(gzip.compress(b"x") * 20_000, "x.gz") == b"x" * 20_000


def test_no_file_unpacks_to_more_than_256_mib():
    assert [most_unpacked(packed) for packed in (1, 2**20, 2**21, 2**30)] == [2**24, 2**27, 2**28, 2**28]
