"""Training of query attention on vector tasks (Mahdavi, Liao and Thrampoulidis 2024).

Keys are never projected example by example: the weights are folded once a step into small tables, and each example
reads only those. Labels are learned by descent; one real target by variable projection, since the output is linear in
the attention weights.
"""

from rote.training.query_attention.protocol import VectorProtocol as VectorProtocol
from rote.training.query_attention.protocol import vector_protocol as vector_protocol
from rote.training.query_attention.result import VectorTrained as VectorTrained
from rote.training.query_attention.train import train_vectors as train_vectors
