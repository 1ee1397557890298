"""Proofs by Bitcoin blocks (section "opentimestamps")."""
