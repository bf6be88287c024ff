"""gawah: answers from your documents that can be re-checked, and refusals where there is nothing to answer from."""

__version__ = "0.1.0"
