/**
 * A passkey in software, for tests: makes registrations and assertions as WebAuthn says, and does wrong what it is told to
 * do wrong.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

export interface SoftPasskey {
  credentialId: string;
  /** To be used again elsewhere, except for its counter. */
  save(): SavedPasskey;
  register(options: { challenge: string; rp: { id?: string } }, wrong?: Wrong): object;
  sign(request: { challenge: string; rpId: string }, wrong?: Wrong): SoftAssertion;
}

export interface SavedPasskey {
  credentialId: string;
  /** PKCS #8 in base64. */
  privateKey: string;
}

export interface SoftAssertion {
  credentialId: string;
  authenticatorData: string;
  clientDataJSON: string;
  signature: string;
}

export interface Wrong {
  origin?: string;
  rpId?: string;
  flags?: number;
  counter?: number;
  type?: string;
  crossOrigin?: boolean;
}

const flagBits = { present: 0x01, verified: 0x04, attested: 0x40 };

export interface SoftPasskeyOptions {
  /** Of the page that it is used on. */
  origin: string;
  /** Its counter is not always zero. */
  counts?: boolean;
  /** Absent: a new one. */
  saved?: SavedPasskey;
}

export function softPasskey({ origin, counts = false, saved }: SoftPasskeyOptions): SoftPasskey {
  const privateKey = saved
    ? createPrivateKey({ key: Buffer.from(saved.privateKey, 'base64'), format: 'der', type: 'pkcs8' })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const id = saved ? Buffer.from(saved.credentialId, 'base64url') : randomBytes(16);
  let counter = 0;

  function made(kind: string, options: { challenge: string; rpId: string }, more: Buffer, wrong: Wrong) {
    if (counts) counter += 1;
    const clientData = Buffer.from(
      JSON.stringify({
        type: wrong.type ?? kind,
        challenge: options.challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    );
    const head = Buffer.alloc(5);
    const usual = flagBits.present | flagBits.verified | (more.length > 0 ? flagBits.attested : 0);
    head.writeUInt8(wrong.flags ?? usual);
    head.writeUInt32BE(wrong.counter ?? counter, 1);
    const authenticatorData = Buffer.concat([sha256(wrong.rpId ?? options.rpId), head, more]);
    return { clientData, authenticatorData };
  }

  return {
    credentialId: id.toString('base64url'),
    save: () => ({
      credentialId: id.toString('base64url'),
      privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    }),
    register({ challenge, rp }, wrong = {}) {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseOf(publicKey)]);
      const options = { challenge, rpId: rp.id ?? '' };
      const { clientData, authenticatorData } = made('webauthn.create', options, attested, wrong);
      return {
        id: id.toString('base64url'),
        rawId: id.toString('base64url'),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          attestationObject: attestationObject(authenticatorData).toString('base64url'),
        },
      };
    },
    sign(request, wrong = {}) {
      const { clientData, authenticatorData } = made('webauthn.get', request, Buffer.alloc(0), wrong);
      const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
      return {
        credentialId: id.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        clientDataJSON: clientData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      };
    },
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** CBOR of a map with kty, alg, crv, x and y, as CTAP writes it. */
function coseOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const [left, right] = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  return Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    left,
    Buffer.from('225820', 'hex'),
    right,
  ]);
}

/** CBOR of {fmt: "none", attStmt: {}, authData}. */
function attestationObject(authenticatorData: Buffer): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
  const length = Buffer.alloc(3);
  length.writeUInt8(0x59);
  length.writeUInt16BE(authenticatorData.length, 1);
  return Buffer.concat([
    Buffer.from([0xa3]),
    ...[text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0])],
    ...[text('authData'), length, authenticatorData],
  ]);
}
