"""Training: engines, optimisers, protocols. `rote.training.train` trains models on a task."""
