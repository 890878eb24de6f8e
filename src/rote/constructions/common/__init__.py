"""What constructions of several papers share."""
