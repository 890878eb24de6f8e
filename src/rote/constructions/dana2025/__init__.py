"""Dana, Pydi and Chevaleyre 2025: Theorem 1 and what follows from it, and the sequence encoders of its propositions."""

from rote.constructions.dana2025 import corollary1 as corollary1
from rote.constructions.dana2025 import proposition2 as proposition2
from rote.constructions.dana2025 import proposition3 as proposition3
from rote.constructions.dana2025 import sequence_encoder as sequence_encoder
from rote.constructions.dana2025 import theorem1 as theorem1
from rote.constructions.dana2025 import theorem1_distribution as theorem1_distribution
from rote.constructions.dana2025 import theorem2 as theorem2
