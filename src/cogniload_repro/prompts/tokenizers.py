"""Tokenizers of the paper's models: vocabularies inside public packages (`MANIFEST`), fetched when wanted, checked."""

import base64
import hashlib
import importlib
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from cogniload_repro.files import write_whole
from cogniload_repro.storage import DATA

MANIFEST = DATA / "tokenizers.json"


@dataclass(frozen=True)
class TokenizerFile:
    """Where one tokenizer comes from, which models use it, and why it is taken for theirs.

    ``form`` is tiktoken (ranked tokens, with the pattern that splits a text) or tokenizers (a ``tokenizer.json``).
    """

    name: str
    label: str
    form: str
    client: str
    package: str
    version: str
    platform: str
    member: str
    size: int
    sha256: str
    pattern: str | None
    models: tuple[str, ...]
    basis: str

    def path(self, folder: str | Path) -> Path:
        """Return the place of the file in a folder."""
        return Path(folder) / f"{self.name}{'.tiktoken' if self.form == 'tiktoken' else '.json'}"


@cache
def load_manifest(path: Path = MANIFEST) -> dict[str, TokenizerFile]:
    """Return the known tokenizers by name."""
    entries = json.loads(Path(path).read_text(encoding="utf-8"))
    return {
        name: TokenizerFile(name=name, **entry | {"models": tuple(entry["models"])}) for name, entry in entries.items()
    }


def find_tokenizers(names: Iterable[str] | None = None, *, manifest: Path = MANIFEST) -> list[TokenizerFile]:
    """Return the tokenizers of these names, all by default."""
    known = load_manifest(manifest)
    names = list(known) if names is None else list(names)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"unknown tokenizer {unknown[0]!r}; tokenizers are {', '.join(known)}")
    return [known[name] for name in names]


def fetch_tokenizers(
    folder: str | Path, names: Iterable[str] | None = None, *, manifest: Path = MANIFEST
) -> list[Path]:
    """Fetch tokenizers that a folder lacks, and return the paths of all that were asked for.

    Packages are downloaded through their registry's client, never installed or run; of each, the one member is read
    that the manifest names, and kept if its checksum is the manifest's.
    """
    wanted = find_tokenizers(names, manifest=manifest)
    paths = {file: file.path(folder) for file in wanted}
    missing = [one for one, path in paths.items() if not (path.exists() and _is_whole(one, path.read_bytes()))]
    missing.sort(key=lambda file: (file.client != "pip", *_origin(file)))
    for origin, files in groupby(missing, _origin):
        with TemporaryDirectory() as place:
            package = _download(*origin, Path(place))
            for file in files:
                write_whole(paths[file], _read_member(package, file))
    return list(paths.values())


def present_tokenizers(folder: str | Path, *, manifest: Path = MANIFEST) -> tuple[str, ...]:
    """Return the names of the tokenizers that a folder holds, after checking their files."""
    present = [file for file in find_tokenizers(manifest=manifest) if file.path(folder).exists()]
    for file in present:
        _check(file, file.path(folder).read_bytes(), file.path(folder))
    return tuple(file.name for file in present)


def load_tokenizer(name: str, folder: str | Path, *, manifest: Path = MANIFEST):
    """Return a tokenizer of a folder, as its library has it: ``tiktoken.Encoding`` or ``tokenizers.Tokenizer``."""
    (file,) = find_tokenizers([name], manifest=manifest)
    path = file.path(folder)
    if not path.exists():
        raise ValueError(f"{path} is missing; fetch it with `cogniload fetch-tokenizers`")
    content = path.read_bytes()
    _check(file, content, path)
    try:
        library = importlib.import_module(file.form)
    except ImportError:
        raise ValueError(f"the package {file.form} is not installed; add it with `pip install {file.form}`") from None
    if file.form == "tokenizers":
        return library.Tokenizer.from_buffer(content)
    # not tiktoken's own reader: it keeps a copy elsewhere, and would go on with that if the file changed
    ranked = (line.split() for line in content.splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in ranked}
    return library.Encoding(name, pat_str=file.pattern, mergeable_ranks=ranks, special_tokens={})


def _origin(file: TokenizerFile) -> tuple[str, str, str, str]:
    """Return what is the same for files that come in one download."""
    return file.client, file.package, file.version, file.platform


def _download(client: str, package: str, version: str, platform: str, place: Path) -> Path:
    """Have a registry's client put one package into a folder, and return its file."""
    if client == "pip":
        chosen = [] if platform == "any" else ["--platform", platform]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", *chosen, "--dest", str(place), f"{package}=={version}"]
    else:
        command = ["npm", "pack", "--silent", "--pack-destination", str(place), f"{package}@{version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=place)
        return next(path for path in place.iterdir() if path.suffix in (".whl", ".tgz"))
    except FileNotFoundError:
        reason = f"{client} is not installed; install it or name the tokenizers that do not need it"
    except subprocess.CalledProcessError as error:
        reason = f"{(error.stderr.strip().splitlines() or ['no reason given'])[-1]}; try again later"
    except StopIteration:
        reason = "it brought no package file; try again later"
    raise ValueError(f"{client} could not download {package} {version}: {reason}")


def _read_member(package: Path, file: TokenizerFile) -> bytes:
    """Return the one member of a package that is wanted, unless it is not what the manifest says."""
    place = f"{file.member} of {file.package} {file.version}"
    try:
        if package.suffix == ".whl":
            with zipfile.ZipFile(package) as archive, archive.open(file.member) as member:
                content = member.read(file.size + 1)
        else:
            with tarfile.open(package) as packed, packed.extractfile(file.member) as member:  # type: ignore[union-attr]
                content = member.read(file.size + 1)
    except (KeyError, AttributeError, TypeError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ValueError(f"{place} cannot be read ({error}); the registry brought another package") from None
    _check(file, content, place)
    return content


def _is_whole(file: TokenizerFile, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == file.sha256


def _check(file: TokenizerFile, content: bytes, place: object) -> None:
    if not _is_whole(file, content):
        raise ValueError(
            f"{place} does not have the SHA-256 {file.sha256} that data/tokenizers.json demands; "
            "run `cogniload fetch-tokenizers` again"
        )
