"""The most facts that a model of given sizes holds, built or trained."""
