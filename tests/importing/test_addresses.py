"""Addresses of sources as they are shown."""

import pytest

from cogniload_repro.importing.addresses import without_secrets


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("http://me:s3cret@host/x?token=TOK", "http://host/x"),
        ("https://host/a@b/c#token=TOK", "https://host/a@b/c"),
        ("https://[::1]:8080/a@b?x=1#sha256=0f", "https://[::1]:8080/a@b"),
        ("hf://datasets/o/n@0123/a.jsonl", "hf://datasets/o/n@0123/a.jsonl"),
        ("s3://key:word@bucket/x", "s3://bucket/x"),
        ("https:me:s3cret@h", "https:h"),
        ("HTTP:\\me:s3cret@h", "HTTP:\\h"),
        ("https://me:s3@cret@h/x", "https://h/x"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("C:/me/a:b@c", "C:/me/a:b@c"),
        ("outputs/a?b#c@d", "outputs/a?b#c@d"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, public):
    """User, password, query and fragment are left out."""
    assert without_secrets(address) == public
    assert without_secrets(public) == public
