"""Training: engines, optimisers, protocols."""

from rote.training.problem import TrainingProblem as TrainingProblem
from rote.training.protocol import Protocol as Protocol
from rote.training.protocol import best as best
from rote.training.protocol import fast as fast
from rote.training.protocol import paper as paper
from rote.training.result import Trained as Trained
from rote.training.trials import Trial as Trial
from rote.training.trials import run_trials as run_trials
