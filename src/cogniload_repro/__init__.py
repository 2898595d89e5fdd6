"""The reference reproduction of CogniLoad (ICLR 2026)."""

__version__ = "0.1.0"
