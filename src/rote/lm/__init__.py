"""Language models from elsewhere: loading, recall of facts, probes of the theorems' assumptions, the meter."""
