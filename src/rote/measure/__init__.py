"""What a model holds: recall, divergence, bits, capacity. Built and trained models are treated alike."""

from rote.measure.bits import bits_memorized as bits_memorized
from rote.measure.recall import Recall as Recall
from rote.measure.recall import recall as recall
