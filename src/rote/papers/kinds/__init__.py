"""The records of each kind of figure, and the rules by which its claims are decided: pure data."""
