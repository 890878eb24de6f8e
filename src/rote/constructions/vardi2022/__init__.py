"""Vardi, Yehudai and Shamir 2022: N integers to labels by a ReLU network with about sqrt(N) parameters."""

from rote.constructions.vardi2022.memorizer import Storage as Storage
from rote.constructions.vardi2022.memorizer import memorize as memorize
from rote.constructions.vardi2022.network import Builder as Builder
from rote.constructions.vardi2022.network import Network as Network
