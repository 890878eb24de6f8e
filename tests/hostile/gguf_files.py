"""GGUF files whose headers lie: lists that are longer than the file, texts without an end, tokens by the megabyte."""

from __future__ import annotations

import random
import struct
from pathlib import Path

SIZES = {
    "block_count": 1, "embedding_length": 8, "feed_forward_length": 8, "attention.head_count": 2,
    "attention.head_count_kv": 2, "context_length": 64, "vocab_size": 4,
}  # fmt: skip
LARGE = (0, 1, 7, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
COUNTS = (0, 1, 100, 10**5, 10**7, 2**31, 2**60, 2**63, 2**64 - 1)


def text(value: bytes, length: int | None = None) -> bytes:
    """A text of the header, with its length or another one."""
    return struct.pack("<Q", len(value) if length is None else length) + value


def field(name: str, kind: int, body: bytes) -> bytes:
    return text(name.encode()) + struct.pack("<I", kind) + body


def listed(name: str, inner: int, body: bytes, count: int) -> bytes:
    return field(name, 9, struct.pack("<IQ", inner, count) + body)


def whole(tokens: list[bytes]) -> list[bytes]:
    """Fields of a small Llama with these tokens and no tensors."""
    return [
        field("general.architecture", 8, text(b"llama")), field("general.name", 8, text(b"x")),
        field("tokenizer.ggml.model", 8, text(b"llama")),
        listed("tokenizer.ggml.tokens", 8, b"".join(map(text, tokens)), len(tokens)),
        listed("tokenizer.ggml.scores", 6, bytes(4 * len(tokens)), len(tokens)),
        listed("tokenizer.ggml.token_type", 5, struct.pack("<i", 1) * len(tokens), len(tokens)),
        *(field(f"llama.{name}", 4, struct.pack("<I", size)) for name, size in SIZES.items()),
    ]  # fmt: skip


def tensor(name: bytes, sizes: list[int], kind: int, offset: int) -> bytes:
    return text(name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}QIQ", *sizes, kind, offset)


def packed(fields: list[bytes], tensors: list[bytes], counts: tuple[int, int] | None = None) -> bytes:
    told = counts or (len(tensors), len(fields))
    return b"GGUF" + struct.pack("<IQQ", 3, *told) + b"".join(fields) + b"".join(tensors)


def write_hostile(path: Path, rng: random.Random) -> None:
    """Write a GGUF file that means harm."""
    long = rng.choice((1, 1000, 10**5, 10**6))
    tokens = [b"<unk>", b"<s>", b"</s>", b"a" * long] + [b"t%d" % n for n in range(rng.choice((0, 100, 20_000)))]
    fields, tensors = whole(tokens), []
    kind = rng.randrange(8)
    if kind == 0:
        inner, body = rng.choice(((0, b""), (0, bytes(10**6)), (8, text(b"x") * 1000), (9, bytes(1200)), (99, b"")))
        fields.insert(rng.randrange(len(fields)), listed("x", inner, body, rng.choice(COUNTS)))
    elif kind == 1:
        at = rng.randrange(len(fields))
        fields[at] = text(b"name", rng.choice(COUNTS)) + fields[at][8:]
    elif kind == 2:
        name = rng.choice(list(SIZES))
        fields.append(field(f"llama.{name}x"[:-1], 4, struct.pack("<I", rng.choice(LARGE))))
        fields = [one for number, one in enumerate(fields) if name.encode() not in one or number == len(fields) - 1]
    elif kind == 3:
        sizes = [rng.choice(COUNTS) for _ in range(rng.choice((0, 1, 2, 4, 9)))]
        tensors = [tensor(b"token_embd.weight", sizes, rng.choice((0, 1, 2, 8, 99)), rng.choice(COUNTS))]
    elif kind == 4:
        shared = [f"blk.{number}.attn_q.weight".encode() for number in range(rng.choice((10, 10**4)))]
        tensors = [tensor(name, [2**10, 2**10], 0, 0) for name in shared]
    elif kind == 5:
        fields.append(field("general.alignment", 4, struct.pack("<I", rng.choice(LARGE))))
    elif kind == 6:
        fields += [field(f"f{number}", 4, bytes(4)) for number in range(rng.choice((10**3, 10**5)))]
    told = (rng.choice(COUNTS), rng.choice(COUNTS)) if kind == 7 else None
    data = packed(fields, tensors, told) + bytes(rng.choice((0, 32, 2**22)))
    path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
