"""The page: a planner, runs and an inspector, served on this machine. Needs the extra `web`."""
