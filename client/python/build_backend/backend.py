"""Builds the package with Python's own library alone (PEP 517): no network, no other tool, no file in the source.

    python3 client/python/build_backend/backend.py FOLDER      writes the wheel and the source package there
"""

import base64
import hashlib
import io
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Time of all files in packages, so that the same source gives the same bytes: zip's earliest.
DATE = (1980, 1, 1, 0, 0, 0)
SECONDS = 315532800


def _project():
    """The plain strings of pyproject.toml's table [project]. Python 3.9 has no TOML reader."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([a-z-]+) = "([^"]*)"$', table, re.M))


def _metadata(project):
    fields = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "License": "MIT",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"{head}\n{(ROOT / project['readme']).read_text('utf-8')}".encode()


def _license():
    """In the source package it lies beside pyproject.toml, in the project at the top."""
    beside = ROOT / "LICENSE"
    return beside if beside.exists() else ROOT.parents[1] / "LICENSE"


def _sources():
    return sorted((ROOT / "pliant").glob("*.py"))


def _forget_bytecode():
    shutil.rmtree(Path(__file__).parent / "__pycache__", ignore_errors=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _forget_bytecode()
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    info = f"{stem}.dist-info"
    files = {f"pliant/{path.name}": path.read_bytes() for path in _sources()}
    files[f"{info}/licenses/LICENSE"] = _license().read_bytes()
    files[f"{info}/METADATA"] = _metadata(project)
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: pliant\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = _record(files, info)
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path, DATE), data, zipfile.ZIP_DEFLATED)
    return name


def _record(files, info):
    def row(path, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(data)}\n"

    return ("".join(row(*file) for file in files.items()) + f"{info}/RECORD,,\n").encode()


def build_sdist(sdist_directory, config_settings=None):
    _forget_bytecode()
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    files = {"PKG-INFO": _metadata(project), "LICENSE": _license().read_bytes()}
    for path in [*_sources(), ROOT / "pyproject.toml", ROOT / project["readme"], Path(__file__).resolve()]:
        files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    name = f"{stem}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size, entry.mtime = len(data), SECONDS
            archive.addfile(entry, io.BytesIO(data))
    return name


if __name__ == "__main__":
    for build in (build_wheel, build_sdist):
        print(Path(sys.argv[1]) / build(sys.argv[1]))
