/** Algorithms and keys, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const algorithmsInPython = [
  ...withoutRules('rfc3161/algorithms.py', [
    [
      'an algorithm has more than one parameter',
      'len(element.children) <= 2',
      'rfc3161-an-algorithm-with-two-parameters',
    ],
    [
      'a hash is neither SHA-256 nor SHA-384 nor SHA-512',
      'algorithm.oid in HASHES',
      'rfc3161-a-hash-by-sha-1',
    ],
    [
      'the mask of RSASSA-PSS is by another hash',
      'mask_hash == name',
      'rfc3161-pss-whose-mask-is-by-another-hash',
    ],
    ['the length of the salt is negative', 'salt_length >= 0', 'rfc3161-pss-salt-negative'],
    [
      'the algorithm of a signature is not supported',
      'algorithm.oid == _RSA_PSS',
      'rfc3161-pss-under-another-name',
    ],
    [
      'the length of the salt is not a number',
      'length.tag == der.INTEGER',
      'rfc3161-pss-salt-under-another-tag',
    ],
    [
      'the algorithm of an ECDSA signature has parameters',
      'algorithm.parameters is None',
      'rfc3161-ecdsa-with-parameters',
    ],
  ]),
  ...withoutEnds('rfc3161/algorithms.py', [
    ['RSASSA-PSS has no parameters', 'algorithm.parameters is None', 'rfc3161-pss-without-parameters-at-all'],
    [
      'the mask of RSASSA-PSS is not MGF1',
      'mask.oid != _MGF1 or mask.parameters is None',
      'rfc3161-pss-whose-mask-is-made-otherwise',
    ],
    [
      'the algorithm of a signature names no hash',
      'name is None',
      'rfc3161-certificate-by-rsa-without-a-hash',
    ],
  ]),
  ...replacing('rfc3161/algorithms.py', [
    [
      'a hash has parameters',
      'require(algorithm.without_parameters(), f"{what} has parameters.")',
      'require(True, f"{what} has parameters.")',
      'rfc3161-ess-hash-with-a-parameter',
    ],
    [
      'the algorithm of a signature has parameters',
      'require(algorithm.without_parameters(), "The algorithm of a signature has parameters.")',
      'require(True, "The algorithm of a signature has parameters.")',
      'rfc3161-rsa-with-a-parameter',
    ],
    [
      'the parameters of RSASSA-PSS have an element too many',
      'fields.end()',
      'pass',
      'rfc3161-pss-with-a-trailer',
    ],
  ]),
  ...withoutRules('rfc3161/keys.py', [
    ['an RSA key has fewer than 2,048 bits', 'n.bit_length() >= 2048', 'rfc3161-rsa-of-2040-bits'],
    ['an RSA key has more than 8,192 bits', 'n.bit_length() <= 8192', 'rfc3161-rsa-of-8193-bits'],
    ['the exponent of an RSA key is even', 'e % 2 == 1', 'rfc3161-rsa-exponent-4'],
    ['the modulus of an RSA key is even', 'n % 2 == 1', 'trust-unusable-root-of-an-even-modulus'],
    ['a key is not on its curve', 'curve.contains(point)', 'trust-unusable-root-off-p384'],
    ['the exponent of an RSA key is out of range', '3 <= e <= 2**31 - 1', 'rfc3161-rsa-exponent-too-large'],
    [
      'a key is not an uncompressed point',
      'len(data) == 1 + 2 * curve.size and data[0] == 4',
      'rfc3161-an-authority-with-a-key-in-an-old-form',
    ],
    [
      'a key is neither RSA nor of an elliptic curve',
      'algorithm.oid == _EC_PUBLIC_KEY',
      'rfc3161-key-for-agreements',
    ],
    [
      'a key is on neither P-256 nor P-384',
      'curve is not None',
      'rfc3161-an-authority-with-a-key-of-the-kind-p521',
    ],
    ['a signature does not fit the key', 'holds', 'rfc3161-a-signature-by-another-key'],
    [
      'the algorithm of an RSA key has no NULL',
      'parameters is not None and parameters.tag == der.NULL',
      'rfc3161-rsa-without-parameters',
    ],
    [
      'a signature by a key on a curve is not by ECDSA',
      'scheme.kind == ECDSA',
      'rfc3161-an-algorithm-for-another-kind-of-key',
    ],
    [
      'a signature by an RSA key is by ECDSA',
      'scheme.kind in (RSA, PSS)',
      'rfc3161-pss-by-the-name-of-ecdsa',
    ],
  ]),
  ...replacing('rfc3161/keys.py', [
    [
      'an RSA key has an element too many',
      'n, e = integer(fields.take(der.INTEGER)), integer(fields.take(der.INTEGER))\n    fields.end()',
      'n, e = integer(fields.take(der.INTEGER)), integer(fields.take(der.INTEGER))\n    pass',
      'rfc3161-surplus-in-the-rsa-key',
    ],
    [
      'a key has an element too many',
      'data = whole_bytes(fields.take(der.BIT_STRING), "A public key")\n    fields.end()',
      'data = whole_bytes(fields.take(der.BIT_STRING), "A public key")\n    pass',
      'rfc3161-surplus-in-the-key',
    ],
    [
      'an ECDSA signature has an element too many',
      'r, s = _ecdsa_number(fields.take(der.INTEGER), key.curve), _ecdsa_number(fields.take(der.INTEGER), key.curve)\n        fields.end()',
      'r, s = _ecdsa_number(fields.take(der.INTEGER), key.curve), _ecdsa_number(fields.take(der.INTEGER), key.curve)\n        pass',
      'rfc3161-surplus-in-the-ecdsa-signature',
    ],
  ]),
  ...replacing('crypto/curve.py', [
    [
      'a coordinate is beyond the prime',
      'return x < self.p and y < self.p and (',
      'return (',
      'trust-unusable-root-beyond-p256',
    ],
  ]),
];
