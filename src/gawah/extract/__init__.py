"""Bytes of one file to a Document: type by content, text by its encoding, structure by its format, in a limited process.

`registry.extract` does it in this process, `sandbox.Sandbox` in a process of its own.
"""
