"""The version, as in pyproject.toml. Asking the installed package for it takes longer than opening the database."""

VERSION = "0.1.0"
