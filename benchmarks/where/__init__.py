"""Parts of `benchmarks/where_facts.py`."""
