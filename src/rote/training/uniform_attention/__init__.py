"""Training of F2 . uniform attention . F1, the model of the experiments of Kajitsuka and Sato 2025.

Many small networks of one shape are trained at once, stacked in one tensor, on all sequences at every step.
"""
