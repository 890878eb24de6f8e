"""Certificates: what a model holds, measured on every fact in the dtype that is saved, and how to check it again."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from rote.build.construction import Draft
from rote.export.fingerprint import weights_fingerprint
from rote.measure.divergence import divergence
from rote.measure.recall import Recall, recall
from rote.models.model import Model
from rote.progress import SILENT, Progress
from rote.tasks import DistributionTask, Task, VectorTask
