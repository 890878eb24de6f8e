"""Pages and figures of docs/ that are generated from records: what the tools write and the tests compare."""
