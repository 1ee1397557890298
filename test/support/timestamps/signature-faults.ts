/** What can be wrong with the signature of a token, and with how the token is encoded. */

import { derFaults } from './der-faults.ts';
import { around, type Bytes, element, integer, join, nullValue, oid, sequence, set } from './der-writer.ts';
import { encodingFault, type FaultCase, tokenFault } from './fault-case.ts';
import { hashAlgorithm, signatureAlgorithm } from './test-keys.ts';
import { attribute } from './test-token.ts';

const rsa = { kind: 'rsa', rule: { hash: 'sha256' } } as const;
const pss = { kind: 'rsa', rule: { hash: 'sha256', pss: true } } as const;
const rsaOid = (number: number, parameters: Bytes) =>
  sequence(oid(`1.2.840.113549.1.1.${number}`), parameters);

const signatures: FaultCase[] = [
  tokenFault('attributes that were signed otherwise', /signature is not by the key/, {
    faulty: { signedAttributes: set() },
  }),
  tokenFault('a signature by another key', /signature is not by the key/, {
    faulty: { signature: sequence(integer(1), integer(1)) },
  }),
  tokenFault('bytes after an ECDSA signature', /signature is not by the key/, {
    faulty: { signature: join(sequence(integer(1), integer(1)), nullValue) },
  }),
  tokenFault('an ECDSA signature with a number that is negative as written', /signature is not by the key/, {
    // Read without its sign, it would be the right one.
    faulty: { editSignature: (signature) => (signature[4] === 0 ? withoutZero(signature) : null) },
    sound: { editSignature: (signature) => (signature[4] === 0 ? signature : null) },
  }),
  tokenFault('an ECDSA signature with a padded number', /signature is not by the key/, {
    faulty: { editSignature: (signature) => withZero(signature) },
  }),
  tokenFault('an ECDSA signature with a number that is too long', /signature is not by the key/, {
    faulty: { signature: sequence(integer(2n ** 262n), integer(1)) },
  }),
  tokenFault('a hash by SHA-1', /hash is not SHA-256, SHA-384 or SHA-512/, {
    faulty: { digestHash: 'sha1', digestAlgorithms: set(hashAlgorithm('sha1')) },
  }),
  tokenFault('a signature over SHA-1', /algorithm that is not accepted/, {
    authority: rsa,
    faulty: { signatureAlgorithm: signatureAlgorithm(rsa, { hash: 'sha1' }) },
    sound: { signatureAlgorithm: signatureAlgorithm(rsa, { hash: 'sha256' }) },
  }),
  tokenFault('a signature over another hash than the signer names', /algorithm that is not accepted/, {
    faulty: { digestHash: 'sha384' },
  }),
  tokenFault('ECDSA with parameters', /algorithm that is not accepted/, {
    faulty: { signatureAlgorithm: sequence(oid('1.2.840.10045.4.3.2'), nullValue) },
  }),
  tokenFault('an algorithm for another kind of key', /signature is not by the key/, {
    faulty: { signatureAlgorithm: rsaOid(11, nullValue) },
  }),
  tokenFault('PSS without parameters, which means SHA-1', /algorithm that is not accepted/, {
    authority: pss,
    faulty: { signatureAlgorithm: rsaOid(10, sequence()) },
  }),
  tokenFault('PSS whose mask is by another hash', /algorithm that is not accepted/, {
    authority: pss,
    faulty: {
      signatureAlgorithm: rsaOid(
        10,
        sequence(
          around(0, hashAlgorithm('sha256')),
          around(1, rsaOid(8, hashAlgorithm('sha384'))),
          around(2, integer(32)),
        ),
      ),
    },
  }),
  tokenFault('PSS whose mask is made otherwise', /algorithm that is not accepted/, {
    authority: pss,
    faulty: {
      signatureAlgorithm: rsaOid(
        10,
        sequence(
          around(0, hashAlgorithm('sha256')),
          around(1, rsaOid(9, hashAlgorithm('sha256'))),
          around(2, integer(32)),
        ),
      ),
    },
  }),
  tokenFault('PSS that names another length of its salt', /signature is not by the key/, {
    authority: pss,
    faulty: {
      signatureAlgorithm: rsaOid(
        10,
        sequence(around(0, hashAlgorithm('sha256')), around(1, rsaOid(8, hashAlgorithm('sha256')))),
      ),
    },
  }),
  tokenFault('PSS presented as PKCS #1 v1.5', /signature is not by the key/, {
    authority: pss,
    faulty: { signatureAlgorithm: rsaOid(11, nullValue) },
  }),
];

/** In a SEQUENCE with a length of one byte, the first INTEGER without, or with one more, zero before it. */
function withoutZero(signature: Bytes): Bytes {
  const [, length = 0, , size = 0] = signature;
  return join(Uint8Array.of(0x30, length - 1, 2, size - 1), signature.subarray(5));
}
function withZero(signature: Bytes): Bytes {
  const [, length = 0, , size = 0] = signature;
  return join(Uint8Array.of(0x30, length + 1, 2, size + 1, 0), signature.subarray(4));
}

const contentOf = (token: Bytes) => token.subarray(4);

const encoding: FaultCase[] = [
  encodingFault('bytes after the token', /not valid DER: bytes follow/, (token) => join(token, nullValue)),
  encodingFault('an indefinite length', /a length is indefinite/, (token) =>
    element(0x30, contentOf(token), 0),
  ),
  encodingFault('a length that is not minimal', /a length is not minimal/, (token) =>
    element(0x30, contentOf(token), 3),
  ),
  encodingFault('a token that is cut off', /it is cut off/, (token) => token.subarray(0, -1)),
  encodingFault('two contents', /The token is not in the form/, (token) => {
    const content = contentOf(token);
    // The object identifier of SignedData, and [0].
    const [type, wrapped] = [content.subarray(0, 11), content.subarray(11)];
    const signedData = wrapped.subarray(4);
    return sequence(type, around(0, signedData, signedData));
  }),
  // Where nobody reads it, but everything has to be DER.
  ...derFaults.map(([name, hex, reason]) =>
    tokenFault(`${name} in an unsigned attribute`, reason, {
      faulty: { unsignedAttributes: [attribute('1.2.3', Buffer.from(hex.replaceAll(' ', ''), 'hex'))] },
      sound: { unsignedAttributes: [attribute('1.2.3', nullValue)] },
    }),
  ),
  encodingFault('a SET instead of a SEQUENCE', /The token is not in the form/, (token) =>
    element(0x31, contentOf(token)),
  ),
];

export const signatureFaults: FaultCase[] = [...signatures, ...encoding];
