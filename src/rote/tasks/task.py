"""Any of the three kinds of task."""

from __future__ import annotations

from rote.tasks.association import AssociationTask
from rote.tasks.distribution import DistributionTask
from rote.tasks.vectors import VectorTask

Task = AssociationTask | DistributionTask | VectorTask
