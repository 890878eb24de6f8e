"""What needs several of the layers above: plans, capacity, the densest shape, reproduced figures, and their runs."""
