"""`rote plan`: what every method takes to hold given facts."""
