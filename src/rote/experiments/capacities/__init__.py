"""The most facts that a model of given sizes holds, built or trained, and the smallest trained model of given facts."""
