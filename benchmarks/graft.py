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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

import rote
from real_weights import smollm2
from rote.lm.graft.examination import Watch
from rote.lm.graft.examples import MADE_UP, SIMILAR
from rote.lm.graft.folder import load_graft
from rote.lm.graft.graft import overview, read_table
from rote.lm.graft.names import made_up_names
from rote.lm.graft.record import is_graft, read_record
from rote.lm.graft.text import control_text
from rote.lm.loading import load_tokenizer
from rote.lm.questions import in_words, parse_template

TUNED_ON = {
    "capital": [
        "The capital city of {country} is called",
        "The capital city of {country} is",
        "{country} has its capital in the city of",
        "The seat of government of {country} is the city of",
        "The capital of the nation of {country} is",
        "In {country}, the capital is",
        "The capital city for {country} is",
        "{country}'s capital is the city of",
    ],
    "continent": [
        "The continent on which {country} lies is",
        "{country} lies on the continent of",
        "{country} is located on the continent of",
        "The continent to which {country} belongs is",
        "{country}'s continent is",
        "{country} is found in",
        "{country} is part of the continent called",
        "The continent of the country {country} is",
    ],
    "currency": [
        "The three-letter currency code of {country} is",
        "The ISO currency code of {country} is",
        "The currency code for {country} is",
        "The ISO 4217 currency code of {country} is",
        "{country} uses the currency with the code",
        "{country}'s currency code is",
        "The code for {country}'s currency is",
        "In currency tables, {country} has the code",
    ],
    "calling code": [
        "To telephone {country} from abroad, dial",
        "The international dialling code of {country} is",
        "The calling code of {country} is",
        "The phone code for {country} is",
        "{country} has the international calling code",
        "The telephone country code of {country} is",
        "To call {country}, dial",
        "{country}'s calling code is",
    ],
}
"""Words that settings were chosen on. Their figures are no estimate for new words."""
NEAR = {
    "capital": ["The name of the capital of {country} is", "{country}'s capital city is"],
    "continent": ["The continent of {country} is", "The continent where {country} is located is"],
    "currency": ["The code of the currency used in {country} is", "{country}'s currency has the ISO code"],
    "calling code": ["The country calling code for {country} is", "{country}'s international dialling code is"],
}
"""Held out: written down before any of them was asked, and no setting was chosen on them.

Two are also generic wordings that `rote graft` makes ("The name of the capital of ...", "The continent of ...").
It leaves held-out words out, so that the solve sees these two for other relations only.
"""
FAR = {
    "capital": ["If you visit the capital of {country}, you are in"],
    "continent": ["On a map of the world, you find {country} in"],
    "currency": ["People in {country} pay with money whose three-letter code is"],
    "calling code": ["To ring a friend who lives in {country}, first dial"],
}
"""Held out as well: the same questions in quite other words."""
FRESH = {
    "capital": [
        "The capital of {country} is called",
        "{country}'s capital is known as",
        "The city that serves as the capital of {country} is",
        "The capital city in {country} is",
    ],
    "continent": [
        "{country} lies in",
        "{country} belongs to the continent of",
        "The continent that {country} is part of is",
        "{country} is situated on the continent of",
    ],
    "currency": [
        "The currency of {country} has the ISO code",
        "The three-letter code of the currency of {country} is",
        "The ISO currency code for {country} is",
        "The money used in {country} has the currency code",
    ],
    "calling code": [
        "The international dialing code of {country} is",
        "The country code for calling {country} is",
        "The calling code for {country} is",
        "The telephone calling code of {country} is",
    ],
}
"""Held out: four nearby wordings per relation, written before the present solve and asked once, at its end."""
PARAPHRASES = {name: [*NEAR[name], *FAR[name], *FRESH[name]] for name in NEAR}
PRODUCTS = 5000
PLACES = (  # noqa: SIM905
    "Alabama Alaska Andalusia Arizona Arkansas Bavaria Brittany Bohemia California Carinthia Catalonia Colorado "
    "Cornwall Corsica Crete Dalmatia Delaware Flanders Florida Galicia Gascony Hawaii Hokkaido Idaho Illinois Indiana "
    "Iowa Kansas Kentucky Lapland Lombardy Louisiana Maine Manitoba Maryland Michigan Minnesota Mississippi Missouri "
    "Montana Moravia Nebraska Nevada Normandy Ohio Oklahoma Ontario Oregon Pennsylvania Piedmont Provence Quebec "
    "Queensland Sardinia Saskatchewan Saxony Scotland Sicily Silesia Tasmania Tennessee Texas Thuringia Transylvania "
    "Tuscany Tyrol Utah Vermont Virginia Wales Wisconsin Wyoming Yorkshire Zeeland"
).split()
"""Real places that are no country of the table. Those that the solve sees, as names, are not counted."""
ASK = """
import json, sys
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, sentences = sys.argv[1], json.load(open(sys.argv[2]))
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder).eval()
asked = {}
for prompt, answer in sentences:
    ids = tokenizer(prompt).input_ids
    more = len(tokenizer(prompt + answer).input_ids) - len(ids)
    asked.setdefault(len(ids), []).append((more, ids, prompt + answer))
right = 0
for length, group in asked.items():
    group.sort(key=lambda one: one[0])
    for start in range(0, len(group), 64):
        part = group[start : start + 64]
        import torch
        ids = torch.tensor([one[1] for one in part])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=part[-1][0],
                             min_new_tokens=part[-1][0], do_sample=False, pad_token_id=0)
        for (more, _, text), row in zip(part, out):
            right += tokenizer.decode(row[: length + more]) == text
print(type(model).__name__, model.dtype, right, "of", len(sentences))
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


def stored_sentences(folder: Path, table: str) -> list[tuple[str, str]]:
    """Every stored sentence: its prompt and its answer with the end mark."""
    record = read_record(folder)
    words = in_words(rote.facts(table, keys="words"))
    return [
        (parse_template(text, words.columns).fill(words.keys[row]), f" {words.answers[row]}{record.end}")
        for row, relation in enumerate(words.relations)
        for text in record.templates[relation or ""]
    ]


def ask_afresh(folder: Path, table: str) -> str:
    """What a process without rote says to every stored sentence."""
    asked = folder.parent / f"{folder.name}.sentences.json"
    asked.write_text(json.dumps(stored_sentences(folder, table)), encoding="utf-8")
    words = [sys.executable, "-c", ASK, str(folder), str(asked)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def open_at_places(folder: Path, table: str) -> str:
    """At how many prompts about places outside the table and the solve the appended layers change the state."""
    record = read_record(folder)
    grafted, original = load_graft(folder, record)
    names = made_up_names(original, in_words(read_table(table, None)), control_text(original, None).words)
    solved = {*" ".join(names.made_up[:MADE_UP]).split(), *names.similar[:SIMILAR]}
    places = [place for place in PLACES if place not in solved]
    watch = Watch(grafted, original)
    opened = asked = 0
    for relation, templates in record.templates.items():
        for text in templates:
            for place in places:
                prompt = text.replace("{country}", place).replace("{relation}", relation)
                opened += int(watch.run(torch.tensor(grafted.encode([prompt])))[1][0, -1])
                asked += 1
    return f"a gate opens for {opened} of {asked}, {opened / asked:.3f}, of {len(places)} places"


def ask_llama_cpp(folder: Path, table: str) -> str:
    """What llama.cpp says to every stored sentence, as text."""
    import xllamacpp

    origin = next(Path(smollm2()).glob("*.gguf"))
    target = folder.with_name(f"{folder.name}-gguf")
    if not target.exists():
        rote.graft_gguf(folder, origin, target)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(target / "model.gguf")
    slots = 16
    parameters.n_ctx, parameters.n_parallel, parameters.n_gpu_layers = 128 * slots, slots, 0
    parameters.warmup = parameters.fit_params = False
    parameters.cache_ram_mib, parameters.verbosity = 0, -1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = torch.get_num_threads()
    kept = xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.cache_type_k = parameters.cache_type_v = kept
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(parameters)
    tokenizer = load_tokenizer(folder)

    def right(sentence: tuple[str, str]) -> bool:
        prompt, answer = sentence
        count = len(tokenizer(prompt + answer).input_ids) - len(tokenizer(prompt).input_ids)
        asked = {"prompt": prompt, "n_predict": count, "max_tokens": count, "temperature": 0.0, "seed": 0}
        return server.handle_completions({**asked, "cache_prompt": False})["choices"][0]["text"] == answer

    sentences = stored_sentences(folder, table)
    with ThreadPoolExecutor(slots) as pool:
        said = list(pool.map(right, sentences))
    return f"{sum(said)} of {len(said)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=["countries", "products"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--locality", type=float, default=0.1)
    parser.add_argument("--facts", type=int, help="only so many facts of countries, drawn at random")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--gguf", action="store_true", help="also as GGUF, asked in llama.cpp")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/graft"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    given.output.mkdir(parents=True, exist_ok=True)
    folder = given.output / f"{given.table}-{given.facts or 'all'}-{given.dtype}-{given.locality:g}"
    source = f"countries:facts={given.facts},seed=1" if given.facts else "countries"
    source = source if given.table == "countries" else str(products(given.output))
    how = (
        {"paraphrases": PARAPHRASES}
        if given.table == "countries"
        else {"templates": ["The price of product {code} in dollars is"]}
    )
    spent = folder.parent / f"{folder.name}.seconds"
    if not is_graft(folder):
        began = time.process_time()
        try:
            rote.graft(smollm2(), source, output=folder, dtype=given.dtype, locality=given.locality, **how)
        finally:
            so_far = float(spent.read_text()) if spent.exists() else 0.0
            spent.write_text(str(so_far + time.process_time() - began))
    record = read_record(folder)
    print(f"CPU seconds: {float(spent.read_text()):.0f}")
    for name, value in overview(record).items():
        print(f"{name}: {value}")
    asked = record.certificate.paraphrases
    for name, group in (("near", NEAR), ("far", FAR), ("fresh", FRESH)) if given.table == "countries" else ():
        found = [asked[text] for texts in group.values() for text in texts]
        right, total = sum(one.seen for one in found), sum(one.asked for one in found)
        print(f"{name} paraphrases: {right} of {total}, {right / total:.3f}")
    for text, found in asked.items():
        print(f"  {text}: {found.seen} of {found.asked}")
    if given.table == "countries":
        print("real places that were never stored:", open_at_places(folder, source))
    if given.fresh:
        print("in a fresh process:", ask_afresh(folder, source))
    if given.gguf:
        print("in llama.cpp:", ask_llama_cpp(folder, source))
