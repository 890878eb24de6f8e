"""Kits for research on editing and unlearning: models with and without some facts, in the formats that tools read."""
