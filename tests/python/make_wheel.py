"""make_wheel.py SOURCE MODULE FOLDER - a wheel of the package with the module of a build folder, by the standard library
alone; prints its path.  For the tests: `make wheel` makes the one to hand out, `pip install ./python` builds its own."""

import base64
import hashlib
import os
import re
import sys
import zipfile

source, module, folder = sys.argv[1:]
said = open(os.path.join(source, "python", "pyproject.toml"), encoding="utf-8").read()
version = re.search(r'^version = "(.*)"', said, re.M).group(1)
needs = re.findall(r'"(.*?)"', re.search(r"^dependencies = \[(.*)\]", said, re.M).group(1))
info = f"privet-{version}.dist-info"
path = os.path.join(folder, f"privet-{version}-cp39-abi3-linux_{os.uname().machine}.whl")
files = {}
package = os.path.join(source, "python", "privet")
for name in sorted(os.listdir(package)):
    if name.endswith((".py", ".pyi", ".typed")):
        files["privet/" + name] = open(os.path.join(package, name), "rb").read()
files["privet/_core.abi3.so"] = open(module, "rb").read()
files[f"{info}/METADATA"] = (
    f"Metadata-Version: 2.1\nName: privet\nVersion: {version}\nRequires-Python: >=3.9\n"
    + "".join(f"Requires-Dist: {n}\n" for n in needs)
).encode()
files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: privet\nRoot-Is-Purelib: false\nTag: {os.path.basename(path)[len(f'privet-{version}-'):-4]}\n".encode()
record = ""
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
        out.writestr(name, data)
    out.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
print(path)
