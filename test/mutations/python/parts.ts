/** Parts of single conditions of the second verifier, each left out or moved by one: a vector has to turn red. */
import { changing } from './python-mutation.ts';

export const partsInPython = [
  ...changing('rfc3161/der.py', [
    [
      'negative integers are padded',
      'content[0] == 0xFF and content[1] >= 0x80',
      'content[0] == 0xFF',
      'rfc3161-der-integer-negative',
    ],
    [
      'a BIT STRING has bits',
      'unused == 0 or len(content) > 1',
      'len(content) > 1',
      'rfc3161-der-bit-string-empty',
    ],
    [
      'the last byte of an arc is 80',
      'content[-1] < 0x80',
      'content[-1] <= 0x80',
      'rfc3161-der-oid-that-ends-with-80',
    ],
    [
      'a byte of zeros ends an arc',
      'if before < 0x80)]',
      'if before <= 0x80)]',
      'rfc3161-der-oid-with-a-large-arc',
    ],
    [
      'the class of applications is the universal one',
      'tag < 0x40',
      'tag <= 0x40',
      'rfc3161-der-application-tag',
    ],
    [
      'a length of 128 is short',
      'require(length >= 0x80',
      'require(length > 0x80',
      'rfc3161-der-length-of-128',
    ],
    [
      'a length of 127 is long',
      'require(length >= 0x80',
      'require(length >= 0x7F',
      'rfc3161-der-length-of-127-in-the-long-form',
    ],
  ]),
  ...changing('rfc3161/values.py', [
    [
      'an arc ends at a byte of zeros',
      'if byte < 0x80:',
      'if byte <= 0x80:',
      'rfc3161-policy-with-a-large-arc',
    ],
  ]),
  ...changing('rfc3161/ess.py', [
    [
      'an issuer of any kind',
      'len(names) == 1 and names[0].tag == directory_name',
      'len(names) == 1',
      'rfc3161-ess-with-a-name-of-another-kind',
    ],
  ]),
  ...changing('rfc3161/extensions.py', [
    [
      'basic constraints that say no',
      'return BasicConstraints(flag is not None and boolean(flag),',
      'return BasicConstraints(flag is not None,',
      'rfc3161-authority-that-says-that-it-is-none',
    ],
  ]),
  ...changing('rfc3161/judge.py', [
    [
      'an identifier of a key under any tag',
      'value.tag == der.OCTET_STRING and ',
      '',
      'rfc3161-signer-by-key-under-another-tag',
    ],
    [
      'an authority under any tag',
      'info.authority.tag == der.context(4) and ',
      '',
      'rfc3161-authority-named-under-another-tag',
    ],
    [
      'a signer needs a key usage',
      'bits is None or (',
      'bits is not None and (',
      'rfc3161-signer-without-key-usage',
    ],
    ['an empty key usage', '(bits != [] and all(', '(all(', 'rfc3161-signer-with-an-empty-key-usage'],
  ]),
  ...changing('rfc3161/path.py', [
    [
      'an authority needs a key usage',
      'issuer.key_usage is None or KEY',
      'issuer.key_usage is not None and KEY',
      'rfc3161-authority-without-key-usage',
    ],
    [
      'a root begins before the genTime',
      'root.not_before <= gen_time',
      'root.not_before < gen_time',
      'rfc3161-root-valid-since-the-gentime',
    ],
    [
      'a root ends after the genTime',
      'gen_time <= root.not_after',
      'gen_time < root.not_after',
      'rfc3161-root-valid-until-the-gentime',
    ],
  ]),
  ...changing('rfc3161/certificate.py', [
    [
      'a certificate begins before the genTime',
      'self.not_before <= moment',
      'self.not_before < moment',
      'rfc3161-intermediate-valid-since-the-gentime',
    ],
    [
      'a certificate ends after the genTime',
      'moment <= self.not_after',
      'moment < self.not_after',
      'rfc3161-intermediate-valid-until-the-gentime',
    ],
  ]),
  ...changing('rfc3161/keys.py', [
    [
      'a curve under any tag',
      'parameters is not None and parameters.tag == der.OID',
      'parameters is not None',
      'rfc3161-key-with-a-curve-under-another-tag',
    ],
    [
      'parameters of RSA of any kind',
      'parameters is not None and parameters.tag == der.NULL',
      'parameters is not None',
      'rfc3161-rsa-key-with-a-parameter',
    ],
  ]),
  ...changing('rfc3161/algorithms.py', [
    [
      'a mask without a hash',
      'mask.oid != _MGF1 or mask.parameters is None',
      'mask.oid != _MGF1',
      'rfc3161-pss-mask-without-a-hash',
    ],
    ['a salt has bytes', 'salt_length >= 0', 'salt_length > 0', 'rfc3161-pss-salt-of-0'],
  ]),
  ...changing('rfc3161/crl.py', [
    [
      'a list without a name has a relative one',
      'point is not None and names is None',
      'names is None',
      'rfc3161-revocation-by-a-list-about-users',
    ],
  ]),
  ...changing('rfc3161/revocation.py', [
    [
      'a signer needs basic constraints',
      'constraints is not None and constraints.is_authority',
      'constraints.is_authority',
      'rfc3161-revocation-of-a-signer-without-basic-constraints',
    ],
    [
      'lists with a scope are about users',
      'scope.only_user and is_authority',
      'is_authority',
      'rfc3161-revocation-of-an-authority-by-a-list-about-authorities',
    ],
    [
      'lists about users count for nobody',
      'scope.only_user and is_authority',
      'scope.only_user',
      'rfc3161-revocation-by-a-list-about-users',
    ],
    [
      'lists about authorities count for nobody',
      'scope.only_authorities and not is_authority',
      'scope.only_authorities',
      'rfc3161-revocation-of-an-authority-by-a-list-about-authorities',
    ],
    [
      'a signer needs distribution points',
      'if CRL_DISTRIBUTION_POINTS not in certificate.extensions:',
      'if False:',
      'rfc3161-revocation-of-a-signer-without-distribution-points',
    ],
    [
      'a distribution point has a name',
      'point is not None and reasons',
      'reasons',
      'rfc3161-revocation-with-an-empty-distribution-point',
    ],
    [
      'a distribution point with an issuer',
      ' and issuer is None:',
      ':',
      'rfc3161-revocation-under-a-point-with-an-issuer',
    ],
    [
      'a distribution point with reasons',
      'reasons is None and issuer',
      'issuer',
      'rfc3161-revocation-under-a-point-with-reasons',
    ],
  ]),
  ...changing('rfc3161/tstinfo.py', [
    ['998 milliseconds at most', '1 <= value <= 999', '1 <= value < 999', 'rfc3161-accuracy-of-999'],
  ]),
  ...changing('evm/rlp.py', [
    [
      'one byte never has a prefix',
      'stop - start != 1 or data[start] >= 0x80',
      'stop - start != 1',
      'inclusion-rlp-byte-of-128',
    ],
    ['a byte of 80 stands for itself', 'prefix < 0x80', 'prefix <= 0x80', 'inclusion-in-block-0'],
    ['55 bytes are long', 'if length > 55:', 'if length >= 55:', 'inclusion-rlp-string-of-55'],
    [
      '55 bytes may be long',
      'require(length > 55',
      'require(length >= 55',
      'inclusion-rlp-string-of-55-in-the-long-form',
    ],
  ]),
  ...changing('evm/receipt.py', [
    ['three topics at most', 'len(topics) <= 4', 'len(topics) < 4', 'inclusion-log-with-four-topics'],
  ]),
  ...changing('history.py', [
    ['a taker that is a number', 'isinstance(to, str) and ', '', 'history-transfer-to-a-number'],
    [
      'one seal is there once',
      'seal.sequence != number or identity == before',
      'seal.sequence != number',
      'history-two-leaves-of-one-seal',
    ],
    [
      'the numbers of seals rise',
      'seal.sequence >= number',
      'seal.sequence > number',
      'history-two-leaves-of-one-seal',
    ],
    [
      'a known transfer makes up for an erased one',
      'all_known = all_known and (',
      'all_known = (',
      'history-erased-transfer-before-a-known-one',
    ],
  ]),
  ...changing('trust.py', [
    ['a root with any key', 'read_key(certificate.public_key)', 'pass', 'trust-unusable-root-of-1024-bits'],
    [
      'lists of a trust file of any length',
      'form.array(parts[name], 0, most, name)',
      'pass',
      'trust-unusable-policies-257',
    ],
  ]),
  ...changing('document.py', [
    [
      'claims with any salt',
      'form.hash_bytes(value["salt"], "claims.salt")',
      'pass',
      'malformed-claims-salt-too-short',
    ],
  ]),
  ...changing('jcs.py', [
    ['a number is a level', ' or not isinstance(value, (list, dict))', '', 'canonical-nested-64'],
  ]),
  ...changing('strict_json.py', [
    [
      'half a unit below is near enough',
      '-unit / 2 < too_much',
      '-unit / 2 <= too_much',
      'content-number-half-a-unit-below',
    ],
    [
      'half a unit above is too far',
      'too_much <= unit / 2',
      'too_much < unit / 2',
      'content-number-half-a-unit-above',
    ],
    ['the first pair of escapes', '0xD800 <= high', '0xD800 < high', 'content-pairs-of-escapes'],
    ['the last first half', 'high < 0xDC00', 'high <= 0xDC00', 'document-two-halves-of-a-character'],
    ['the first second half', '0xDC00 <= low', '0xDC00 < low', 'content-pairs-of-escapes'],
    ['the last second half', 'low < 0xE000', 'low <= 0xE000', 'content-half-a-character-and-another'],
    ['any first half', 'if 0xD800 <= high < 0xDC00 and ', 'if ', 'document-escape-before-half-a-character'],
  ]),
];
