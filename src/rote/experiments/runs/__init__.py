"""Analysis of runs: listing, fitted laws, export, comparison and merging."""
