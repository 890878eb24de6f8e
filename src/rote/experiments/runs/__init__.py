"""What is done with runs that ended: laws, lists, tables, merging."""
