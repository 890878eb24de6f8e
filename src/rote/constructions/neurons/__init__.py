"""A neuron per fact: MLPs behind random attention, and attention heads that simulate them."""
