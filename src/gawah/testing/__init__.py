"""Fakes of every port, and the contract test classes that each implementation of a port inherits."""
