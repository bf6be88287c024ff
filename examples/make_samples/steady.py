"""ZIP files whose bytes depend on their content alone: one date, one order of time, one way to compress."""

import io
import zipfile

EPOCH = (2026, 5, 1, 0, 0, 0)


def packed(parts: dict[str, bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return stream.getvalue()


def repacked(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return packed({name: archive.read(name) for name in archive.namelist()})
