"""`graft.json`: what was appended to a model, from which facts, and what the result was seen to do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rote.errors import InputError, details_of, problems, validation_problems
from rote.files import held
from rote.tasks.origin import Origin

RECORD, WEIGHTS = "graft.json", "model.safetensors"
FORMAT = 1
MOST_TEMPLATES, MOST_LETTERS = 64, 4096
"""Templates of one relation, and letters of one."""
MOST_RELATIONS = 1024
MOST_SUBJECTS = 2**16
Text = Annotated[str, Field(max_length=MOST_LETTERS)]
Wording = Annotated[
    dict[Text, Annotated[list[Text], Field(max_length=MOST_TEMPLATES)]], Field(max_length=MOST_RELATIONS)
]
Count = Annotated[int, Field(ge=0, le=2**62)]


class Asked(BaseModel):
    """How many were asked, and of how many it was seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: Count
    seen: Count


class GraftCertificate(BaseModel):
    """What a grafted model does, seen by generating from text with the stock library, greedily.

    A sentence is a fact in the words of one template. An answer is right if every token of it, and of the end mark, is
    generated. A gate is open at a token if the appended layers change its residual state.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights_fingerprint: str
    facts: Count
    recalled: Count
    """Facts answered right under every template."""
    sentences: Asked
    before: Asked
    """The same sentences, of the model without the graft."""
    paraphrases: dict[str, Asked]
    """Templates that the solve did not see, by their text."""
    after_text: Asked
    """A sample of the sentences after other text."""
    in_chat: Asked | None
    """A sample of the sentences in an assistant's turn, where the tokenizer has a chat template."""
    never_stored: Asked
    """Made-up subjects that are not in the table, under the templates: at how many prompts a gate is open."""
    similar_subjects: Asked | None = None
    """The same for names of the vocabulary that are most like the stored subjects."""
    control_open: Asked
    """Tokens of held-out text, and at how many a gate is open."""
    control_changed: Asked
    """Of those at which none is, how many have a logit that differs in any bit."""
    control_divergence: float
    """Mean KL divergence on held-out text, in nats per token."""
    control_perplexity: tuple[float, float]
    """Perplexity of held-out text before and after."""

    @property
    def complete(self) -> bool:
        return self.recalled == self.facts


class GraftRecord(BaseModel):
    """`graft.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    version: str
    model: str
    original_config: dict[str, Any]
    original_layers: Count
    added_layers: Count
    neurons: Count
    added_parameters: Count
    dtype: Literal["float32", "bfloat16", "float16"]
    facts: Origin
    facts_fingerprint: str
    relation: Text | None
    templates: Wording
    """By relation; the empty name where the table has none."""
    paraphrases: Wording
    end: Text
    locality: float
    control: str | None
    """Fingerprint of the control text; none where it is the one that comes with rote."""
    owners: Annotated[list[int], Field(max_length=2**22)] | None = None
    """The fact of each neuron, layer after layer; -1 for an empty one. What `rote edit` needs."""
    never: Annotated[list[Text], Field(max_length=MOST_SUBJECTS)]
    certificate: GraftCertificate


def is_graft(path: Path) -> bool:
    return (path / RECORD).is_file()


def read_record(path: Path) -> GraftRecord:
    """The record of a grafted folder."""
    if not path.is_dir():
        raise InputError(f"{path}: there is no such folder; give one that `rote graft` wrote")
    with held(path) as folder:
        if not folder.has(RECORD):
            raise InputError(f"{path}: is no graft, {RECORD} is missing; give a folder that `rote graft` wrote")
        content = folder.json(RECORD)
    where = str(path / RECORD)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{where}: format is not {FORMAT}; written by another version, or not by rote")
    try:
        return GraftRecord(**content)
    except ValidationError as error:
        wrong = validation_problems(details_of(error), GraftRecord.model_fields, options=False)
        raise problems(f"{where}: not as rote writes it", wrong) from None
