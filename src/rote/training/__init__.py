"""Training: engines, optimisers, protocols. Names are imported from their modules: protocols are read without torch."""
