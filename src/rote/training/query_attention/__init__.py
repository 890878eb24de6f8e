"""Training of query attention on vector tasks (Mahdavi, Liao and Thrampoulidis 2024).

Keys are never projected example by example: the weights are folded once a step into small tables, and each example
reads only those. Labels are learned by descent; one real target by variable projection, since the output is linear in
the attention weights. Protocols (`protocol`) can be read without torch; `train` trains.
"""
