"""The derived index: catalog rows to memory-mapped numpy segments, and the two exact legs over them."""
