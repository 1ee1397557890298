/** Certificates, paths and lists of revoked certificates, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const certificatesInPython = [
  ...withoutRules('rfc3161/certificate.py', [
    [
      'a certificate in a token has more than 16,384 bytes',
      'element.end - element.start <= _MOST_BYTES',
      'rfc3161-a-certificate-of-more-than-16384-bytes',
    ],
    [
      'a certificate names two algorithms',
      'inner_algorithm == algorithm.encoded',
      'rfc3161-a-certificate-that-names-two-algorithms',
    ],
    [
      'the version of a certificate is not a number',
      'version.tag == der.INTEGER',
      'rfc3161-certificate-version-enumerated',
    ],
    [
      'the version of a certificate is neither 2 nor 3, or is the default 1',
      'integer(version) in (1, 2)',
      'rfc3161-certificate-of-version-1-written',
    ],
  ]),
  ...replacing('rfc3161/certificate.py', [
    ['a certificate has an element too many', 'outer.end()', 'pass', 'rfc3161-surplus-in-the-certificate'],
    [
      'the validity of a certificate has an element too many',
      'validity.end()',
      'pass',
      'rfc3161-surplus-in-the-validity',
    ],
    [
      'what is signed of a certificate has an element too many',
      'fields.end()',
      'pass',
      'rfc3161-surplus-in-the-signed-certificate',
    ],
  ]),
  ...withoutRules('rfc3161/crl.py', [
    [
      'a reason is not an ENUMERATED',
      'element.tag == der.ENUMERATED',
      'rfc3161-revocation-a-reason-that-is-none',
    ],
    [
      'the version of a list is not 2, or is the default 1',
      'version is None or integer(version) == 1',
      'rfc3161-list-of-version-1-written',
    ],
  ]),
  ...replacing('rfc3161/crl.py', [
    [
      'a list names two algorithms',
      'require(fields.take(der.SEQUENCE).encoded == algorithm.encoded,',
      'require(fields.take(der.SEQUENCE).encoded == algorithm.encoded or True,',
      'rfc3161-list-that-names-two-algorithms',
    ],
    [
      'the scope of a list has an element too many',
      'indirect, only_attributes = flag(4), flag(5)\n    fields.end()',
      'indirect, only_attributes = flag(4), flag(5)\n    pass',
      'rfc3161-surplus-in-the-issuing-distribution-point',
    ],
    [
      'an entry of a list has an element too many',
      'listed = fields.optional(der.SEQUENCE)\n    fields.end()',
      'listed = fields.optional(der.SEQUENCE)\n    pass',
      'rfc3161-surplus-in-the-entry-of-a-list',
    ],
    ['a list has an element too many', 'outer.end()', 'pass', 'rfc3161-surplus-in-the-list'],
    [
      'what is signed of a list has an element too many',
      'wrapped = fields.optional(der.context(0))\n    fields.end()',
      'wrapped = fields.optional(der.context(0))\n    pass',
      'rfc3161-surplus-in-the-signed-list',
    ],
  ]),
  ...withoutRules('rfc3161/extensions.py', [
    [
      'the path length of the basic constraints is negative',
      'path_length is None or path_length >= 0',
      'rfc3161-path-length-negative',
    ],
    ['the key usage is not a BIT STRING', 'element.tag == der.BIT_STRING', 'rfc3161-key-usage-in-octets'],
    [
      'the key usage has more than 16 bits',
      '8 * len(bits) - unused <= _MOST_KEY_USAGE_BITS',
      'rfc3161-key-usage-of-17-bits',
    ],
    [
      'a purpose is not an OBJECT IDENTIFIER',
      'all(purpose.tag == der.OID for purpose in purposes)',
      'rfc3161-purposes-with-a-text',
    ],
    ['an extension occurs twice', 'name not in found', 'rfc3161-an-extension-of-the-tstinfo-twice'],
  ]),
  ...replacing('rfc3161/extensions.py', [
    [
      'the basic constraints have an element too many',
      'length = fields.optional(der.INTEGER)\n    fields.end()',
      'length = fields.optional(der.INTEGER)\n    pass',
      'rfc3161-surplus-in-the-basic-constraints',
    ],
    [
      'an extension has an element too many',
      'value = fields.take(der.OCTET_STRING).content\n        fields.end()',
      'value = fields.take(der.OCTET_STRING).content\n        pass',
      'rfc3161-surplus-in-the-extension',
    ],
  ]),
  ...withoutRules('rfc3161/evidence.py', [
    [
      'there are more than 16 certificates',
      'len(every) <= _MOST_CERTIFICATES',
      'rfc3161-more-than-16-certificates',
    ],
  ]),
  ...withoutEnds('rfc3161/judge.py', [
    ['there are too many signatures', 'document.needs_too_much', 'rfc3161-work-769-by-a-token'],
  ]),
  ...withoutRules('rfc3161/judge.py', [
    [
      'the imprint is not by SHA-256',
      'HASHES.get(algorithm.oid) == "sha256"',
      'rfc3161-the-imprint-under-the-name-of-another-hash',
    ],
    [
      'the hash of the imprint has parameters',
      'algorithm.without_parameters()',
      'rfc3161-imprint-hash-with-a-parameter',
    ],
    [
      'the token is about something else',
      'info.imprint == hashlib.sha256(root).digest()',
      'rfc3161-a-longer-imprint',
    ],
    [
      'the policy of a token is not trusted',
      'not policies or info.policy in policies',
      'rfc3161-a-policy-that-is-not-trusted',
    ],
    [
      'the message-digest is not that of the TSTInfo',
      'signer.message_digest == digest',
      'rfc3161-another-message-digest',
    ],
    [
      'the TSTInfo names another authority',
      'is_subject or info.authority.encoded in alternatives',
      'rfc3161-a-tstinfo-that-names-an-address-which-is-not-the-authoritys',
    ],
    [
      'the signature is over another hash than the signer names',
      'scheme.hash == signer.hash',
      'rfc3161-a-signature-over-another-hash-than-the-signer-names',
    ],
    [
      'the extended key usage of the signer is missing or not critical',
      'usage is not None and usage.critical',
      'rfc3161-an-extended-key-usage-that-is-not-critical',
    ],
    [
      "the signer's certificate is not for timestamps alone",
      'certificate.extended_key_usage == [TIME_STAMPING]',
      'rfc3161-an-extended-key-usage-for-timestamps-and-code',
    ],
    [
      "the signer's key has other usages than signatures",
      'only_signs',
      'rfc3161-a-key-usage-for-certificates',
    ],
    [
      'the signer has a critical extension that nobody knows',
      'certificate.no_unknown_critical_extension()',
      'rfc3161-a-critical-extension-of-the-signer-that-nobody-knows',
    ],
    [
      "the signer's certificate was not valid at the genTime",
      'certificate.valid_at(gen_time)',
      'rfc3161-a-gentime-after-the-validity-of-the-signer',
    ],
  ]),
  ...withoutEnds('rfc3161/judge.py', [
    ["the signer's certificate is missing", 'not named', 'rfc3161-a-signer-with-another-issuer'],
    [
      'the token is later than the time of judgement',
      'gen_time > judged_at',
      'rfc3161-a-token-that-is-later-than-the-time-of-judgement',
    ],
    [
      'the certificate of the signer has ended',
      'judged_at > min(each.not_after for each in [*path.certificates, path.root])',
      'rfc3161-ended-a-millisecond-ago',
    ],
  ]),
  ...replacing('rfc3161/judge.py', [
    [
      'the signature of a token is by another key',
      'check_signature(scheme, read_key(certificate.public_key), signer.signed, signer.signature, "The signature of the token")',
      'pass',
      'rfc3161-a-signature-by-another-key',
    ],
  ]),
  ...withoutRules('rfc3161/path.py', [
    [
      "an issuer's key may not sign certificates",
      'issuer.key_usage is None or KEY_CERT_SIGN in issuer.key_usage',
      'rfc3161-an-authority-whose-key-may-not-sign-certificates',
    ],
    [
      "an issuer's certificate is for other purposes than timestamps",
      'for_timestamps',
      'rfc3161-an-authority-for-code',
    ],
    [
      'a path is longer than an issuer allows',
      'constraints.path_length is None or below <= constraints.path_length',
      'rfc3161-a-path-that-is-longer-than-allowed',
    ],
    [
      'an issuer has a critical extension that nobody knows',
      'issuer.no_unknown_critical_extension()',
      'rfc3161-a-critical-extension-of-the-authority-that-nobody-knows',
    ],
    [
      "an issuer's certificate was not valid at the genTime",
      'issuer.valid_at(gen_time)',
      'rfc3161-a-gentime-after-the-validity-of-the-intermediate',
    ],
    [
      'the root was not valid at the genTime',
      'root.not_before <= gen_time <= root.not_after',
      'rfc3161-a-gentime-after-the-validity-of-the-root',
    ],
  ]),
  ...withoutEnds('rfc3161/path.py', [
    [
      'an issuer is not an authority by its basic constraints',
      'constraints is None or not constraints.is_authority',
      'rfc3161-an-authority-without-basic-constraints',
    ],
    [
      'the only path breaks the rules on issuers',
      'search.run(signer, strict=False) is not None',
      'rfc3161-a-path-that-is-longer-than-allowed',
    ],
  ]),
  ...replacing('rfc3161/path.py', [
    [
      'the signature of a certificate is by another key',
      ' and self.document.is_signed(certificate, issuer.public_key)',
      '',
      'rfc3161-a-signers-certificate-signed-by-another-key',
    ],
  ]),
  ...replacing('rfc3161/evidence.py', [
    [
      'tokens count too',
      'return len(self._read) + len(pairs)',
      'return len(pairs)',
      'rfc3161-work-769-by-a-token',
    ],
    [
      'lists count too',
      'for signed in [*evidence.certificates, *evidence.lists]:',
      'for signed in evidence.certificates:',
      'rfc3161-work-769-by-a-list',
    ],
    [
      'roots count too',
      'for issuer in [*evidence.certificates, *roots]:',
      'for issuer in evidence.certificates:',
      'rfc3161-work-769-by-a-root',
    ],
  ]),
  ...withoutRules('rfc3161/revocation.py', [
    [
      'the list is about some reasons only',
      'not scope.some_reasons',
      'rfc3161-revocation-a-list-about-some-reasons-only',
    ],
    [
      'the list is indirect',
      'not scope.indirect',
      'rfc3161-revocation-a-list-about-certificates-of-others-indirect',
    ],
    [
      'the list is about attribute certificates',
      'not scope.only_attributes',
      'rfc3161-revocation-a-list-about-attribute-certificates-only',
    ],
    [
      'the list is published under a relative name',
      'not scope.relative_name',
      'rfc3161-revocation-a-list-published-under-a-relative-name',
    ],
    [
      'the list is not about authorities',
      'not (scope.only_user and is_authority)',
      'rfc3161-revocation-of-an-authority-about-nothing',
    ],
    [
      'the list is about authorities only',
      'not (scope.only_authorities and not is_authority)',
      'rfc3161-revocation-a-list-about-authorities-only',
    ],
    [
      'the list is of another issuer',
      'crl.issuer == certificate.issuer',
      'rfc3161-revocation-a-list-of-another-issuer',
    ],
    [
      "the issuer's key may not sign lists",
      'usage is None or CRL_SIGN in usage',
      'rfc3161-revocation-an-issuer-that-may-not-sign-lists',
    ],
    [
      'the list is later than the time of judgement',
      'crl.this_update <= judged_at',
      'rfc3161-revocation-a-list-later-than-the-time-of-judgement',
    ],
    [
      'the list ended before the token',
      'crl.next_update is None or crl.next_update >= gen_time',
      'rfc3161-revocation-a-list-that-ended-before-the-token',
    ],
    [
      'the list has a critical extension that nobody knows',
      'known',
      'rfc3161-revocation-a-list-with-a-critical-extension-that-nobody-knows',
    ],
    [
      'an entry has a critical extension that nobody knows',
      'entries_known',
      'rfc3161-revocation-an-entry-with-a-critical-extension-that-nobody-knows',
    ],
    [
      'the list is published elsewhere',
      'any(name in names for name in scope.names)',
      'rfc3161-revocation-a-list-published-elsewhere',
    ],
    [
      'the trust file names a certificate',
      'not refused',
      'rfc3161-revocation-by-the-fingerprint-of-the-root',
    ],
    ['a certificate was revoked', 'not revoked', 'rfc3161-revocation-under-one-of-two-names'],
  ]),
  ...replacing('rfc3161/revocation.py', [
    [
      'the signature of a list is by another key',
      'require(document.is_signed(crl, issuer.public_key), ',
      'require(True, ',
      'rfc3161-revocation-a-list-signed-by-another-key',
    ],
    [
      'a distribution point has an element too many',
      'fields.end()',
      'pass',
      'rfc3161-surplus-in-the-distribution-point',
    ],
  ]),
];
