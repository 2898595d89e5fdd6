"""Addresses of sources; standard library only, since `make` reads them before every build."""

import re

# https and hf even if the slashes are mistyped, other schemes with ://
_ADDRESS = re.compile(r"(?:https?|hf):[/\\]*|[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def is_address(source: str) -> bool:
    """Return whether a source is meant as an address, even if its slashes are mistyped."""
    return _ADDRESS.match(source) is not None


def without_secrets(address: str) -> str:
    """Return an address without user, password, query and fragment; a path unchanged."""
    start = _ADDRESS.match(address)
    if not start:
        return address
    rest = re.split("[?#]", address[start.end() :])[0]
    host, slash, path = rest.partition("/")
    return f"{start[0]}{host.rpartition('@')[2]}{slash}{path}"
