"""Facts of relations and subjects, stored as numbers in the embeddings of subjects: `rote.selector`."""

from rote.constructions.rote.selector import selector as selector
