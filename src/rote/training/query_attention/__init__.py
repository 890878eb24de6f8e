"""Training of query attention on vector tasks (Mahdavi, Liao and Thrampoulidis 2024).

Keys are never projected example by example: the weights are folded once per step into small tables, and each example
reads only those. Classification is trained by gradient descent, regression on one target by variable projection, since
the output is linear in the attention weights. Protocols (`protocol`) load without torch; `train` trains.
"""
