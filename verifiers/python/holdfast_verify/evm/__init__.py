"""Anchors in blocks of EVM chains (section "evm")."""
