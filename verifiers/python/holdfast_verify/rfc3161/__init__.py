"""Tokens of timestamp authorities (section "rfc3161")."""
