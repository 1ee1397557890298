"""Hash functions and signatures on public data, from the published standards. Nothing here is secret, so nothing is constant-time."""
