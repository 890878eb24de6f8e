"""Questions whose answers are known beforehand: what `rote selfcheck` asks this machine, a file per kind."""
