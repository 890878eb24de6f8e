"""Files that are copied into exported folders as they are. Exports are run by these, never by the copies."""
