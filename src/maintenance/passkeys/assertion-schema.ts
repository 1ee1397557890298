/** What a wallet or a browser is asked to have a passkey sign, and what it returns, in the API. */
import { Type } from 'typebox';
import { orNull } from '../../runtime/schemas.ts';

/** The members of a type of EIP-712. */
export const typeMembers = Type.Array(Type.Object({ name: Type.String(), type: Type.String() }));

export const PasskeyOptions = orNull(
  Type.Object(
    {
      challenge: Type.String(),
      rpId: Type.String(),
      allowCredentials: Type.Array(Type.Object({ type: Type.String(), id: Type.String() }), {
        maxItems: 20,
      }),
      userVerification: Type.String(),
    },
    {
      description:
        'For a worker who signs with a passkey: PublicKeyCredentialRequestOptionsJSON of WebAuthn, with the EIP-712 digest as challenge',
      examples: [null],
    },
  ),
);

/** As a whole, the longest assertion fits into what a route without a key reads. An id has at most 1023 bytes. */
const base64url = (maxLength: number, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$', examples: [example] });
export const Assertion = Type.Object(
  {
    credentialId: base64url(1_364, 'AQIDBA'),
    authenticatorData: base64url(500, 'OoRcgW8TVbnjHmfL5I--0jc3g78UuU-nPW5-ZH3XcqAFAAAABw'),
    clientDataJSON: base64url(
      1_000,
      'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiVkdobElHUnBaMlZ6ZENCdlppQjNhR0YwSUdseklITnBaMjVsWkM0Z016SSIsIm9yaWdpbiI6Imh0dHBzOi8vaG9sZGZhc3QuZXhhbXBsZS5jb20ifQ',
    ),
    signature: base64url(
      700,
      'MEQCIEVDSeQi8FKXGR6tE-IdPbUg5avvUgVeSWS4L7IT9ZOhAiAFOnGHdMVyvYolrb6xv81cAlauEc7Pn5w_kl0OUr6viQ',
    ),
  },
  {
    additionalProperties: false,
    description: 'What the passkey returned, each in base64url without padding',
  },
);
