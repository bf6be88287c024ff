"""Growth on one machine: 1,000 to 1,000,000 chunks, measured.   python -m bench.scale [--work DIR] [SIZE ...]"""
