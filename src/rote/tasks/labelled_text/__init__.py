"""Real texts with labels, cut to their first tokens: what memorization of text is tried on."""

from rote.tasks.labelled_text.sequences import LabelledSequences as LabelledSequences
from rote.tasks.labelled_text.sequences import Tokenisation as Tokenisation
from rote.tasks.labelled_text.sources import LabelledTexts as LabelledTexts
from rote.tasks.labelled_text.sources import labelled_texts as labelled_texts
