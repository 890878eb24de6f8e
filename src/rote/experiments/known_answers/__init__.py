"""Questions whose answers are known beforehand: what `rote doctor` asks this machine, a file per kind."""
