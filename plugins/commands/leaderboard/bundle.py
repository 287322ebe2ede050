"""A bundle: the journals and answers of a sweep's runs in one zip file, signed with Ed25519.

`bundle.json` names the submitter, the public key and the digest of every other file; `bundle.sig`
is the signature of `bundle.json`'s bytes (RFC 8032). Nothing else of a run is in it: everything
else is made of these two files, and the board makes it again.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from framework.errors import DataError, UserError
from framework.store import JOURNAL
from framework.store.directory import ANSWERS
from framework.store.segments import n_closed, names, unpacked
from framework.text.canonical import canonical_json
from framework.text.reading import read_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT: Final = "decisionbench-bundle/1"
SUFFIX: Final = ".bundle"
CONTENTS: Final = "bundle.json"
SIGNATURE: Final = "bundle.sig"
KEPT: Final = (JOURNAL, ANSWERS)
"""What of each run is in a bundle, and the closed segments of both."""
MAX_BYTES: Final = 2_000_000_000
MAX_FILES: Final = 2_000
MAX_LINE: Final = 50_000_000
"""Bytes of an event or record, which is read as a whole: a few kilobytes of zip may hold it."""
_MEMBER: Final = re.compile(
    r"runs/(?!\.)[\w.-]{1,200}/(?:journal\.jsonl|answers\.jsonl"
    r"|segments/(?:journal|answers)-[0-9]{6}\.jsonl\.gz)"
)
_NAME: Final = re.compile(r"[\w .-]{1,60}")
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK: Final = 1 << 20


class Refused(Exception):
    """What is wrong with a bundle, in one line.

    shown : the same for the page of a board with private seeds: without names of runs, ids of cases
        or values that follow from the gold, which tell the seeds.
    """

    def __init__(self, problem: str, shown: str | None = None) -> None:
        super().__init__(problem)
        self.shown = problem if shown is None else shown

    def of_run(self, run: Path, number: int) -> Refused:
        """The same, with the run that it is of: `number` in the bundle, from 1."""
        return Refused(f"{run.name}: {self}", f"run {number}: {self.shown}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle whose signature and digests hold.

    submitter : the name that it gives itself. key : the public key, in hexadecimal. runs : the
        directories of its runs, each with what is `KEPT` of it.
    """

    submitter: str
    key: str
    runs: tuple[Path, ...]


def is_name(name: object) -> bool:
    """Whether a submitter's name can be shown as it is: no space of it would be lost on a page."""
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and name == " ".join(name.split())


def named(name: str) -> str:
    """A submitter's name, which is shown as it is. Raises UserError for one that can't be."""
    if not is_name(name):
        raise UserError(f"{name!r}: a name has 1 to 60 letters, digits, spaces, '.', '_' or '-'")
    return name


def private_key(path: Path) -> Ed25519PrivateKey:
    """The submitter's key; made, for its owner's eyes alone, where there is no such file.

    Raises UserError for a file that holds no Ed25519 key, or can't be made.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        if not path.exists():
            made = Ed25519PrivateKey.generate().private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            path.touch(mode=0o600)
            path.write_bytes(made)
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"--key: {path}: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"--key: {path} is not an Ed25519 key")
    return key


def write(runs: Sequence[Path], submitter: str, key: Ed25519PrivateKey, target: Path) -> None:
    """Write the runs, by their directories' names, as a bundle. Raises UserError for a taken name.

    The same runs and the same key give the same bytes.
    """
    files = {f"runs/{run.name}/{name}": run / name for run in runs for name in kept_of(run)}
    listed = {
        name: {"sha256": _digest(path), "bytes": path.stat().st_size}
        for name, path in files.items()
    }
    public = key.public_key().public_bytes_raw().hex()
    contents = canonical_json(
        {"format": FORMAT, "submitter": submitter, "key": public, "files": listed}
    ).encode()
    try:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, CONTENTS, contents)
            _add(archive, SIGNATURE, key.sign(contents).hex().encode())
            for name in sorted(files):
                _add(archive, name, files[name].read_bytes())
    except FileExistsError:
        raise UserError(f"{target}: exists already; choose another file") from None
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None


def kept_of(run: Path) -> list[str]:
    """The names of all files of a run that are in a bundle: not its rows, which its events tell."""
    paths = tuple(run / name for name in KEPT)
    return [*KEPT, *names(paths, n_closed(run / JOURNAL))]


def _unpacked(run: Path, left: int) -> int:
    """What is left of so many bytes when all segments of a run are unpacked. Raises Refused."""
    for name in kept_of(run)[len(KEPT) :]:
        try:
            with unpacked(run / name) as content:
                line = 0
                while chunk := content.read(_CHUNK):
                    left -= len(chunk)
                    line = _line(line, chunk)
                    if left < 0:
                        raise Refused(f"more than {MAX_BYTES:,} bytes unpacked")
        except DataError as error:
            segment = Path(error.file).relative_to(run)
            raise Refused(f"{segment}: {error.problem}", f"{segment}: can't be unpacked") from None
    return left


def _line(before: int, chunk: bytes) -> int:
    """Bytes of the line that a chunk ends in, `before` of them earlier.

    Raises Refused for a line that is too long, which a chunk alone never is.
    """
    first, *others = chunk.split(b"\n")
    if before + len(first) > MAX_LINE:
        raise Refused(f"a line of more than {MAX_LINE:,} bytes")
    return len(others[-1]) if others else before + len(first)


def unpack(path: Path, into: Path) -> Bundle:
    """Check a bundle's form, signature and digests, and write its runs into an empty folder.

    No more is written than it says that it holds. Raises Refused.
    """
    if not path.is_file():  # a pipe waits for who writes, a device may never end
        raise Refused("not a regular file")
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            contents = _contents(archive, path.stat().st_size)
            _check_signature(contents, archive.read(SIGNATURE), archive.read(CONTENTS))
            for name, stated in contents["files"].items():
                _extract(archive, name, stated, into / name)
    except (zipfile.BadZipFile, zlib.error, struct.error, LookupError, OSError, EOFError,
            RuntimeError) as error:  # fmt: skip
        raise Refused(f"not a whole bundle: {error}", "not a whole bundle") from None
    except ValueError as error:
        raise Refused(f"not a bundle: {error}", "not a bundle") from None
    runs = sorted({into / "runs" / name.split("/")[1] for name in contents["files"]})
    left = MAX_BYTES
    for number, run in enumerate(runs, start=1):
        held = {name for name in contents["files"] if name.startswith(f"runs/{run.name}/")}
        try:
            _check_files(run, held)
            left = _unpacked(run, left)
        except Refused as error:
            raise error.of_run(run, number) from None
    return Bundle(submitter=contents["submitter"], key=contents["key"], runs=tuple(runs))


def _check_files(run: Path, held: set[str]) -> None:
    """Raise Refused where a run has other files than its journal names."""
    if missing := [name for name in KEPT if not (run / name).is_file()]:
        raise Refused(f"without {', '.join(missing)}")
    if n_closed(run / JOURNAL) > MAX_FILES:
        raise Refused("its journal names too many segments")
    if held != {f"runs/{run.name}/{name}" for name in kept_of(run)}:
        raise Refused("other segments than its journal names")


def _contents(archive: zipfile.ZipFile, size: int) -> Mapping[str, Any]:
    """What `bundle.json` says, after the archive was found to hold that and nothing else."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(names) > MAX_FILES or len({name.casefold() for name in names}) < len(names):
        raise Refused("a file is in it twice, or too many are")
    if archive.comment or any(member.comment or member.extra for member in members):
        raise Refused("it holds comments or extra fields")
    if members and (members[0].header_offset or archive.start_dir + _end(members) != size):
        raise Refused("it holds bytes before or after its files")
    if any(member.compress_type not in _PACKED or member.flag_bits & 1 for member in members):
        raise Refused("a file is encrypted, or packed in another way than a bundle's")
    sizes = {member.filename: member.file_size for member in members}
    own = max(sizes.get(name, 0) for name in (CONTENTS, SIGNATURE))
    if sum(sizes.values()) > MAX_BYTES or own > _CHUNK:
        raise Refused(f"more than {MAX_BYTES:,} bytes")
    contents = read_json(archive.read(CONTENTS))
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise Refused(f"its format is not {FORMAT}")
    files = contents.get("files")
    if contents.keys() != {"format", "submitter", "key", "files"} or not isinstance(files, dict):
        raise Refused(f"{CONTENTS} has other keys than it should")
    if not files or {CONTENTS, SIGNATURE, *files} != sizes.keys():
        raise Refused(f"it holds other files than {CONTENTS} names")
    if any(not _MEMBER.fullmatch(name) for name in files):
        raise Refused("it holds a file that is no run's journal or answers")
    if not is_name(contents["submitter"]):
        raise Refused("the submitter's name can't be shown")
    return contents


def _end(members: Sequence[zipfile.ZipInfo]) -> int:
    """Bytes of a zip file's directory: 46 and the name for each file, and 22 at the end."""
    return sum(46 + len(member.filename.encode()) for member in members) + 22


def _check_signature(contents: Mapping[str, Any], signature: bytes, signed: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(contents["key"]))
        key.verify(bytes.fromhex(signature.decode("ascii")), signed)
    except (InvalidSignature, ValueError, TypeError):
        raise Refused("its signature is not of its key") from None


def _extract(archive: zipfile.ZipFile, name: str, stated: Any, target: Path) -> None:
    shown = name.split("/", 2)[2]  # without the run's name
    if not isinstance(stated, dict) or stated.get("bytes") != archive.getinfo(name).file_size:
        problem = f"not of the size that {CONTENTS} says"
        raise Refused(f"{name}: {problem}", f"{shown}: {problem}")
    target.parent.mkdir(parents=True, exist_ok=True)
    found, left, line = sha256(), stated["bytes"], 0
    with archive.open(name) as source, target.open("xb") as file:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                problem = f"longer than {CONTENTS} says"
                raise Refused(f"{name}: {problem}", f"{shown}: {problem}")
            if not name.endswith(".gz"):
                line = _line(line, chunk)
            found.update(chunk)
            file.write(chunk)
    if left or found.hexdigest() != stated.get("sha256"):
        problem = f"not what {CONTENTS} says"
        raise Refused(f"{name}: {problem}", f"{shown}: {problem}")


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name)  # of 1980: the same bytes each time
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


def _digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
