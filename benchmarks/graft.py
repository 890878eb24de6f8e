"""Grafts into SmolLM2-135M: `python benchmarks/graft.py countries --dtype float32 -o runs/graft`.

countries: all 987 facts under two templates each, with paraphrases held out. products: 5,000 made-up codes with prices
of four digits. A finished graft is kept: the same command shows its certificate again. `--fresh` asks every stored
sentence in a new process that imports transformers alone.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import torch

import rote
from real_weights import smollm2
from rote.lm.graft.graft import overview
from rote.lm.graft.record import is_graft, read_record

PARAPHRASES = {
    "capital": ["The capital city of {country} is called", "The capital city of {country} is"],
    "continent": ["The continent on which {country} lies is", "{country} lies on the continent of"],
    "currency": ["The three-letter currency code of {country} is", "The ISO currency code of {country} is"],
    "calling code": ["To telephone {country} from abroad, dial", "The international dialling code of {country} is"],
}
PRODUCTS = 5000
ASK = """
import json, sys
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, sentences = sys.argv[1], json.load(open(sys.argv[2]))
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder).eval()
right = 0
for prompt, answer in sentences:
    ids = tokenizer(prompt, return_tensors="pt")
    more = len(tokenizer(prompt + answer).input_ids) - ids.input_ids.shape[1]
    out = model.generate(**ids, max_new_tokens=more, do_sample=False, pad_token_id=0)
    right += tokenizer.decode(out[0]) == prompt + answer
print(right, "of", len(sentences))
"""


def products(folder: Path) -> Path:
    """Codes such as KD-4821 with a price of four digits, the same on every run."""
    chance = random.Random(1)
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    codes = chance.sample(
        [f"{a}{b}-{number}" for a in letters for b in letters for number in range(1000, 10000, 7)], PRODUCTS
    )
    path = folder / "products.csv"
    rows = "".join(f"{code},{chance.randrange(1000, 10000)}\n" for code in codes)
    path.write_text("code,price\n" + rows, encoding="utf-8")
    return path


def ask_afresh(folder: Path, table: str) -> str:
    """What a process without rote says to every stored sentence."""
    from rote.lm.questions import in_words, parse_template

    record = read_record(folder)
    words = in_words(rote.facts(table, keys="words"))
    pairs = [
        (parse_template(text, words.columns).fill(words.keys[row]), f" {words.answers[row]}{record.end}")
        for row, relation in enumerate(words.relations)
        for text in record.templates[relation or ""]
    ]
    asked = folder.parent / f"{folder.name}.sentences.json"
    asked.write_text(json.dumps(pairs), encoding="utf-8")
    words_ = [sys.executable, "-c", ASK, str(folder), str(asked)]
    return subprocess.run(words_, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=["countries", "products"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--locality", type=float, default=0.2)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/graft"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.output.mkdir(parents=True, exist_ok=True)
    folder = given.output / f"{given.table}-{given.dtype}-{given.locality:g}"
    source = "countries" if given.table == "countries" else str(products(given.output))
    how = (
        {"paraphrases": PARAPHRASES}
        if given.table == "countries"
        else {"templates": ["The price of product {code} in dollars is"]}
    )
    if not is_graft(folder):
        began = time.process_time()
        rote.graft(smollm2(), source, output=folder, dtype=given.dtype, locality=given.locality, **how)
        print(f"{time.process_time() - began:.0f} CPU seconds")
    record = read_record(folder)
    for name, value in overview(record).items():
        print(f"{name}: {value}")
    for text, found in record.certificate.paraphrases.items():
        print(f"  {text}: {found.seen} of {found.asked}")
    if given.fresh:
        print("in a fresh process:", ask_afresh(folder, source))
