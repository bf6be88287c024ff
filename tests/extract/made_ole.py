"""A compound file (MS-CFB, version 3) from nested mappings: the streams of MSG and of encrypted OOXML, made by code."""

import struct

SECTOR = 512
MINI = 64
CUTOFF = 4096
END, FREE, FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(tree):
    """Bytes of a file of {name: bytes or another such mapping}."""
    entries = [["Root Entry", 5, FREE, FREE, FREE, END, 0]]  # name, type, left, right, child, start, size
    contents = {}

    def add(mapping, parent):
        numbers = []
        for name in sorted(mapping, key=lambda n: (len(n), n.upper())):
            value = mapping[name]
            entries.append([name, 1 if isinstance(value, dict) else 2, FREE, FREE, FREE, END, 0])
            number = len(entries) - 1
            numbers.append(number)
            if isinstance(value, dict):
                add(value, number)
            else:
                contents[number] = value
        entries[parent][4] = tree_of(numbers)

    def tree_of(numbers):
        """The siblings as a balanced search tree; its root."""
        if not numbers:
            return FREE
        middle = len(numbers) // 2
        entries[numbers[middle]][2] = tree_of(numbers[:middle])
        entries[numbers[middle]][3] = tree_of(numbers[middle + 1 :])
        return numbers[middle]

    add(tree, 0)
    sectors, chains = [], []
    mini, mini_chains = b"", []

    def store(data):
        start = len(sectors)
        pieces = [data[at : at + SECTOR].ljust(SECTOR, b"\0") for at in range(0, len(data), SECTOR)]
        sectors.extend(pieces)
        chains.extend([*range(start + 1, start + len(pieces)), END] if pieces else [])
        return start if pieces else END

    for number, data in contents.items():
        entries[number][6] = len(data)
        if len(data) >= CUTOFF:
            entries[number][5] = store(data)
        elif data:
            start, n = len(mini) // MINI, -(-len(data) // MINI)
            mini += data.ljust(n * MINI, b"\0")
            mini_chains.extend([*range(start + 1, start + n), END])
            entries[number][5] = start
    entries[0][5], entries[0][6] = store(mini), len(mini)
    mini_fat = store(b"".join(struct.pack("<I", item) for item in mini_chains)) if mini_chains else END
    n_mini_fat = -(-len(mini_chains) * 4 // SECTOR)
    directory = store(b"".join(entry_bytes(*entry) for entry in entries))
    n_fat = 1
    while n_fat * (SECTOR // 4) < len(chains) + n_fat:
        n_fat += 1
    first_fat = len(sectors)
    table = b"".join(struct.pack("<I", item) for item in chains + [FAT] * n_fat).ljust(n_fat * SECTOR, b"\xff")
    sectors.extend(table[at : at + SECTOR] for at in range(0, len(table), SECTOR))
    header = struct.pack(
        "<8s16sHHHHHHIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, n_fat, directory,
        0, CUTOFF, mini_fat, n_mini_fat, END, 0,
    )  # fmt: skip
    difat = b"".join(struct.pack("<I", first_fat + n if n < n_fat else FREE) for n in range(109))
    return header + difat + b"".join(sectors)


def entry_bytes(name, kind, left, right, child, start, size):
    wide = name.encode("utf-16-le") + b"\0\0"
    return struct.pack("<64sHBBIII16sIQQIQ", wide, len(wide), kind, 1, left, right, child, b"", 0, 0, 0, start, size)
