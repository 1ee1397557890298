"""A verifier of Holdfast proofs, written from docs/proof.md alone. It needs Python's standard library and nothing else.

Every rule of the specification is a call of `require` in the module of its section. From the bottom up:

    outcome, clock, strict_json, jcs, fields      how checks end; times, JSON and fields
    crypto/                                       Keccak, RIPEMD-160, elliptic curves, RSA
    anchors_form, document                        the form of a proof
    digest, leaf, tree, seal                      the steps digest, claims, leaf, path and seal
    rfc3161/, trust, evm/, opentimestamps/        the clocks, and whom to trust
    typed_data, signed_with, signoff, statement   what workers sign
    passkeys                                      whether they had the passkey with which they signed
    anchors, renewals, verify, history            all steps together
    report, cli                                   what is printed
"""

__version__ = "0.1.0"
