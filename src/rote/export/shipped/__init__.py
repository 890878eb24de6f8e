"""Files that are copied into exported folders as they are; rote itself imports none of them."""
