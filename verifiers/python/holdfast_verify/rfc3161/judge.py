"""The step `token`: the six rules in their order (section "rfc3161")."""

import hashlib
from typing import List, NamedTuple

from ..anchors_form import TimestampAnchor
from ..clock import format_time
from ..context import Context
from ..fields import hex_text
from ..outcome import Fails, Skips, require
from . import der
from .algorithms import HASHES, signature_scheme
from .certificate import Certificate
from .cms import Signer
from .evidence import Evidence
from .extensions import (
    DIGITAL_SIGNATURE,
    EXTENDED_KEY_USAGE,
    NON_REPUDIATION,
    SUBJECT_ALTERNATIVE_NAME,
    SUBJECT_KEY_IDENTIFIER,
    TIME_STAMPING,
    general_names,
)
from .keys import check_signature, read_key
from .path import find_path
from .revocation import check_not_refused, check_revocation
from .tstinfo import TstInfo


class Ended(Skips):
    """The certificate of the signer has ended. A renewal may help, if it vouches for a time not before `gen_time`."""

    def __init__(self, reason: str, gen_time: int) -> None:
        super().__init__(reason)
        self.gen_time = gen_time


class Stamp(NamedTuple):
    """A token that passes: the time it tells, who signed it, and what to say."""

    time: int
    signer: str
    message: str


def _check_imprint(evidence: Evidence, root: bytes, policies: List[str]) -> None:
    """Rule 1: the token is about the root."""
    info, signer = evidence.info, evidence.token.signer
    algorithm = info.imprint_algorithm
    require(HASHES.get(algorithm.oid) == "sha256", "The imprint is not by SHA-256.")
    require(algorithm.without_parameters(), "The hash of the imprint has parameters.")
    require(info.imprint == hashlib.sha256(root).digest(), "The token is about something else.")
    require(not policies or info.policy in policies, f"The policy {info.policy} is not trusted.")
    digest = hashlib.new(signer.hash, evidence.token.content).digest()
    require(signer.message_digest == digest, "The message-digest is not that of the TSTInfo.")


def _is_named(certificate: Certificate, signer: Signer) -> bool:
    """Whether the SignerInfo names the certificate."""
    if signer.issuer_and_serial is not None:
        return signer.issuer_and_serial == (certificate.issuer, certificate.serial)
    extension = certificate.extensions.get(SUBJECT_KEY_IDENTIFIER)
    if extension is None:
        return False
    try:
        value = der.read_der(extension.value)
    except Fails:
        return False
    return value.tag == der.OCTET_STRING and value.content == signer.key_identifier


def _find_signer(evidence: Evidence) -> Certificate:
    """Rule 2: the certificate that the SignerInfo names and every ESS attribute identifies first."""
    signer = evidence.token.signer
    named = [each for each in evidence.certificates if _is_named(each, signer)]
    if not named:
        raise Skips("The signer's certificate is missing.")
    for certificate in named:
        if all(identifiers[0].identifies(certificate) for identifiers in signer.ess_attributes):
            return certificate
    raise Fails("The attribute signing-certificate identifies another certificate than the signer's.")


def _check_authority_name(info: TstInfo, certificate: Certificate) -> None:
    """The authority that the TSTInfo names is the signer."""
    if info.authority is None:
        return
    is_subject = info.authority.tag == der.context(4) and info.authority.content == certificate.subject
    extension = certificate.extensions.get(SUBJECT_ALTERNATIVE_NAME)
    alternatives = [] if extension is None else general_names(extension.value)
    require(is_subject or info.authority.encoded in alternatives, "The TSTInfo names another authority.")


def _check_signer(evidence: Evidence, certificate: Certificate) -> None:
    """Rule 3: the signature, and that the certificate is for timestamps alone."""
    signer, gen_time = evidence.token.signer, evidence.info.gen_time
    scheme = signature_scheme(signer.algorithm, signer.hash)
    require(scheme.hash == signer.hash, "The signature is over another hash than the signer names.")
    check_signature(scheme, read_key(certificate.public_key), signer.signed, signer.signature, "The signature of the token")
    usage = certificate.extensions.get(EXTENDED_KEY_USAGE)
    require(usage is not None and usage.critical, "The extended key usage of the signer is missing or not critical.")
    require(certificate.extended_key_usage == [TIME_STAMPING], "The signer's certificate is not for timestamps alone.")
    bits = certificate.key_usage
    only_signs = bits is None or (bits != [] and all(bit in (DIGITAL_SIGNATURE, NON_REPUDIATION) for bit in bits))
    require(only_signs, "The signer's key has other usages than signatures.")
    _check_authority_name(evidence.info, certificate)
    require(certificate.no_unknown_critical_extension(), "The signer has a critical extension that nobody knows.")
    require(certificate.valid_at(gen_time), "The signer's certificate was not valid at the genTime.")


def _usable(evidence: Evidence) -> List[Certificate]:
    """The certificates that may be in the path: identified ones only, if an ESS attribute identifies more than one."""
    usable = evidence.certificates
    for identifiers in evidence.token.signer.ess_attributes:
        if len(identifiers) > 1:
            usable = [each for each in usable if any(identifier.identifies(each) for identifier in identifiers)]
    return usable


def judge_token(anchor: TimestampAnchor, root: bytes, context: Context, judged_at: int) -> Stamp:
    """The token at a time of judgement. Raises `Ended` if only the end of a certificate is in the way."""
    document = context.document
    evidence = document.evidence(anchor)
    if document.needs_too_much:
        raise Skips("The tokens of the document have too many signatures to check.")
    _check_imprint(evidence, root, context.trust.tsa_policies)
    certificate = _find_signer(evidence)
    _check_signer(evidence, certificate)
    gen_time = evidence.info.gen_time
    path = find_path(certificate, context.trust.tsa_roots, _usable(evidence), gen_time, document)
    check_not_refused(path, context.trust.revoked)
    checked = check_revocation(path, evidence.lists + context.trust.crls, gen_time, judged_at, document)
    if gen_time > judged_at:
        raise Skips("The token is later than the time of judgement.")
    name = certificate.subject_text()
    if judged_at > min(each.not_after for each in [*path.certificates, path.root]):
        raise Ended(f"A certificate between {name} and the root has ended. A renewal before its end would have helped.", gen_time)
    told = gen_time + evidence.info.accuracy
    under = f"under the root {path.root.name} ({hex_text(path.root.fingerprint)[:10]}…)"
    revocation = "None of its certificates was revoked." if checked else "Revocation not checked."
    return Stamp(told, name, f"{name} stamped the root on {format_time(told)} at the latest, {under}. {revocation}")
