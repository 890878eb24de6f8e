"""What is to be memorized: associations, distributions, vector sequences, and where they come from.

Names are imported on first use, so that theory, which only needs a task's sizes, loads no numerics.
`facts`, which reads them from anywhere, is in `rote.tasks.facts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rote.lazy import lazy_names

if TYPE_CHECKING:
    from rote.tasks.association import AssociationTask as AssociationTask
    from rote.tasks.association import Fact as Fact
    from rote.tasks.distribution import DistributionTask as DistributionTask
    from rote.tasks.distribution import Spread as Spread
    from rote.tasks.distribution import require_associations as require_associations
    from rote.tasks.distribution import require_tokens as require_tokens
    from rote.tasks.generators import random_associations as random_associations
    from rote.tasks.generators import random_distributions as random_distributions
    from rote.tasks.generators import random_vectors as random_vectors
    from rote.tasks.origin import Origin as Origin
    from rote.tasks.origin import Reading as Reading
    from rote.tasks.shape import TaskShape as TaskShape
    from rote.tasks.task import Task as Task
    from rote.tasks.token_task import TokenTask as TokenTask
    from rote.tasks.vectors import VectorTask as VectorTask
    from rote.tasks.vocabulary import PAD as PAD
    from rote.tasks.vocabulary import SEPARATOR as SEPARATOR
    from rote.tasks.vocabulary import Vocabulary as Vocabulary

__getattr__, __dir__ = lazy_names(__name__)
