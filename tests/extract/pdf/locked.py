"""The standard security handler of PDF 1.4, 40 bits, for tests: RC4 and MD5 as the specification has them (7.6.3)."""

import hashlib
import re

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_FILE_ID = bytes(range(16))
_PERMISSIONS = -4


def rc4(key, data):
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def locked(data, user_password, owner_password="owner"):
    """A document of `pages.pdf`, encrypted."""
    from gawah.testing.pdf import assembled

    user = (user_password.encode() + _PADDING)[:32]
    owner = (owner_password.encode() + _PADDING)[:32]
    owner_entry = rc4(hashlib.md5(owner).digest()[:5], user)
    permissions = (_PERMISSIONS & 0xFFFFFFFF).to_bytes(4, "little")
    key = hashlib.md5(user + owner_entry + permissions + _FILE_ID).digest()[:5]
    objects = {}
    for match in re.finditer(rb"(?ms)^(\d+) 0 obj\n(.*?)\nendobj$", data):
        number, body = int(match.group(1)), match.group(2)
        own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
        if b"stream\n" in body:
            head, _, rest = body.partition(b"stream\n")
            body = head + b"stream\n" + rc4(own, rest.removesuffix(b"\nendstream")) + b"\nendstream"
        else:
            body = re.sub(rb"/Title \((.*?)\)", lambda m, own=own: b"/Title <%s>" % rc4(own, m[1]).hex().encode(), body)
        objects[number] = body
    lock = max(objects) + 1
    objects[lock] = (
        f"<< /Filter /Standard /V 1 /R 2 /O <{owner_entry.hex()}> /U <{rc4(key, _PADDING).hex()}> /P {_PERMISSIONS} >>"
    ).encode()
    file_id = _FILE_ID.hex()
    return assembled(objects, f"/Root 1 0 R /Info 5 0 R /Encrypt {lock} 0 R /ID [<{file_id}> <{file_id}>]")
