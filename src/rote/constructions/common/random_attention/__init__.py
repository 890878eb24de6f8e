"""Random attention: its weights, the features it gives every context, and folding the skip connection in."""
