"""Linear associative memories: outer products, least squares, training."""
