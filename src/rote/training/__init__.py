"""Training: engines, optimizers, protocols. Import names from their modules: protocols load without torch."""
