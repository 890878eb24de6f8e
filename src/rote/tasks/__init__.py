"""What is to be memorized: associations, distributions, vector sequences, and where they come from."""

from rote.tasks.association import AssociationTask as AssociationTask
from rote.tasks.association import Fact as Fact
from rote.tasks.distribution import DistributionTask as DistributionTask
from rote.tasks.distribution import Spread as Spread
from rote.tasks.facts import facts as facts
from rote.tasks.facts import source_names as source_names
from rote.tasks.generators import random_associations as random_associations
from rote.tasks.generators import random_distributions as random_distributions
from rote.tasks.generators import random_vectors as random_vectors
from rote.tasks.origin import Origin as Origin
from rote.tasks.origin import Reading as Reading
from rote.tasks.shape import TaskShape as TaskShape
from rote.tasks.vectors import VectorTask as VectorTask
from rote.tasks.vocabulary import PAD as PAD
from rote.tasks.vocabulary import SEPARATOR as SEPARATOR
from rote.tasks.vocabulary import Vocabulary as Vocabulary

Task = AssociationTask | DistributionTask | VectorTask
