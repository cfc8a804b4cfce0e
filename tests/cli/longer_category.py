"""longer_category.py MODEL OUT: the model with a thousand more values in its first category, digests and all made anew."""

import hashlib
import json
import re
import struct
import sys


def digest(data):
    return hashlib.blake2b(data, digest_size=32)


data = open(sys.argv[1], "rb").read()
header_len, certificate_len, weights = struct.unpack("<QQQ", data[16:40])
header = data[40 : 40 + header_len].decode()
certificate = data[40 + header_len : 40 + header_len + certificate_len].decode()
line = next(x for x in header.split("\n") if '"schema": ' in x)
schema = json.loads(line.split('"schema": ', 1)[1].rstrip(","))
more = schema.replace('"values":[', '"values":[' + ",".join(f'"v{i}"' for i in range(1000)) + ",", 1)
assert more != schema
header = header.replace(json.dumps(schema), json.dumps(more))
certificate = re.sub(r'"header_digest": "[0-9a-f]+"', f'"header_digest": "{digest(header.encode()).hexdigest()}"', certificate)
whole = certificate[: certificate.rindex(',\n  "checksum"')]
certificate = re.sub(r'"checksum": "[0-9a-f]+"', f'"checksum": "{digest(whole.encode()).hexdigest()}"', certificate)
out = data[:16] + struct.pack("<QQQ", len(header.encode()), len(certificate.encode()), weights) + header.encode() + certificate.encode()
out += data[40 + header_len + certificate_len : -32]
open(sys.argv[2], "wb").write(out + digest(out).digest())
