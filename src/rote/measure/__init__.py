"""What a model holds: recall, divergence, bits, capacity. Built and trained models are treated alike."""

from rote.measure.divergence import Divergence as Divergence
from rote.measure.divergence import divergence as divergence
from rote.measure.measures import Error as Error
from rote.measure.measures import error as error
from rote.measure.recall import Recall as Recall
from rote.measure.recall import bits_memorized as bits_memorized
from rote.measure.recall import recall as recall
from rote.measure.softmax_code import SoftmaxCode as SoftmaxCode
from rote.measure.softmax_code import softmax_code as softmax_code
