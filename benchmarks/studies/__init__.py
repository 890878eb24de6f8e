"""Studies that scripts in `benchmarks/` run and write up: what they measure, their pages and their figures."""
