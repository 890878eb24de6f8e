"""The meter: how many bits per parameter an architecture can be made to hold, by training it on random strings."""
