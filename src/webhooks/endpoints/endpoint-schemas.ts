/** The schemas of endpoints in requests and answers. */
import { Type } from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { typePatterns } from '../../events/type-patterns.ts';
import { dateTime, like, named, orNull, plainText, sample, text, unshown } from '../../runtime/schemas.ts';
import { type ClientCertificate, pemLimits } from './client-certificate.ts';
import type { Ordering } from './endpoints.store.ts';
import { endpointLimits } from './endpoints.ts';
import { filterLimits } from './filter-syntax.ts';
import { headerLimits, headerNamePattern, headerValuePattern } from './own-headers.ts';

const sampleTypes = ['file.*', 'record.anchor.confirmed'];
const sampleFilter = `data.vault_id == "${sample.vaultId}" and data.version > 1`;
export const sampleSecret = 'whsec_YW4gZXhhbXBsZSwgYW5kIG5vIHNlY3JldCBhdCBhbGw=';
export const samplePublicKey = 'whpk_GYXEFZvBgFMAi/1KPSIJ6rpAOPMxMaPQpnTUeNOBhrA=';
const sampleDescription = 'Tells the terminal what is anchored';
const sampleCreatedAt = '2026-03-02T08:45:00.000Z';

export const eventTypesSchema = Type.Array(Type.String({ enum: typePatterns }), {
  minItems: 1,
  uniqueItems: true,
  maxItems: eventTypes.length,
  description: 'Types, all types with a prefix such as `record.*`, or `*` for all, also future ones',
  examples: [sampleTypes],
});
const filter = orNull(
  like(
    plainText({
      minLength: 1,
      maxLength: filterLimits.length,
      description: 'Only events that fulfil this expression are sent; see the guide of webhooks',
    }),
    sampleFilter,
  ),
);
export const target = text(sample.endpointUrl, {
  minLength: 1,
  maxLength: endpointLimits.urlLength,
  description: 'Public https address that accepts POST',
});
const description = like(plainText({ maxLength: endpointLimits.descriptionLength }), sampleDescription);
const ed25519 = Type.Boolean({
  description: 'Also sign with a key pair of the endpoint: v1a in the header webhook-signature',
  examples: [true],
});
const headers = Type.Array(
  Type.Object(
    {
      name: text('x-terminal-token', {
        minLength: 1,
        maxLength: headerLimits.nameLength,
        pattern: headerNamePattern,
      }),
      value: text('an example, and no secret at all', {
        minLength: 1,
        maxLength: headerLimits.valueLength,
        pattern: headerValuePattern,
      }),
    },
    { additionalProperties: false },
  ),
  { maxItems: headerLimits.count, description: 'Sent with each request; the values are kept as secrets' },
);
const pemPattern = '^[\\t\\n\\r\\x20-\\x7e]*$';
const clientCertificate = Type.Unsafe<ClientCertificate | null>({
  ...Type.Object(
    {
      certificate: Type.String({
        maxLength: pemLimits.certificate,
        pattern: pemPattern,
        description: 'In PEM, with its authorities. Keys: RSA with at most 4096 bits, P-256, P-384, Ed25519',
      }),
      privateKey: Type.String({
        maxLength: pemLimits.privateKey,
        pattern: pemPattern,
        description: 'In PEM, not encrypted',
      }),
    },
    { additionalProperties: false },
  ),
  type: ['object', 'null'],
  description: 'Shown to a receiver that asks for a certificate of the client',
});
const ordering = Type.Unsafe<Ordering>(
  text('none', {
    enum: ['none', 'resource'],
    description: 'resource: the events of each resource one after the other, in the order of the feed',
  }),
);
const rateLimit = orNull(
  Type.Integer({
    minimum: 1,
    maximum: endpointLimits.requestsPerSecond,
    description: 'Requests per second',
    examples: [50],
  }),
);

const enabled = Type.Boolean({ examples: [true] });

const fields = {
  id: text(sample.endpointId),
  url: text(sample.endpointUrl, {
    description: 'Path and query are shown only to callers who may change the endpoint',
  }),
  eventTypes: Type.Array(Type.String(), { examples: [sampleTypes] }),
  filter: orNull(text(sampleFilter, { description: 'Only events that fulfil it are sent; null: all' })),
  description: text(sampleDescription),
  enabled,
  status: Type.String({ enum: ['active', 'failing', 'disabled'] }),
  disabledReason: orNull(
    Type.String({
      enum: ['owner', 'gone', 'failing'],
      description: 'owner, gone (it answered 410) or failing (for five days)',
    }),
  ),
  rateLimit: orNull(Type.Integer({ examples: [50] })),
  ordering,
  ed25519,
  publicKey: orNull(text(samplePublicKey, { description: 'Verifies the signatures v1a' })),
  headerNames: Type.Array(Type.String(), { examples: [['x-terminal-token']] }),
  clientCertificate: orNull(
    Type.Object(
      {
        subject: text('CN=holdfast'),
        issuer: text('CN=Terminal authority'),
        notAfter: like(dateTime, '2027-03-02T08:00:00.000Z'),
        fingerprint: text('6f1c0a0a2f8c7b1f0d2b7c1f9e4b5a6978d3c2b1a0f9e8d7c6b5a49382716050', {
          description: 'SHA-256 of the certificate',
        }),
      },
      { description: 'The client certificate, without its key' },
    ),
  ),
  createdAt: like(dateTime, sampleCreatedAt),
  updatedAt: like(dateTime, sampleCreatedAt),
};
export const testSchema = named(
  { title: 'EndpointTest', description: 'The result of a test event' },
  Type.Object({
    delivered: Type.Boolean({ examples: [true] }),
    statusCode: orNull(Type.Integer({ examples: [204] })),
    error: orNull(Type.String()),
    durationMs: Type.Integer({ examples: [184] }),
  }),
);
export const EndpointSchema = named(
  { title: 'Endpoint', description: 'A URL to which events are sent' },
  Type.Object(fields),
);
export const SavedSchema = named(
  { title: 'SavedEndpoint', description: 'The endpoint, and the result of the test event if one was sent' },
  Type.Object({ ...fields, test: orNull(testSchema) }),
);
export const CreatedSchema = named(
  {
    title: 'CreatedEndpoint',
    description: 'The new endpoint with its signing secret, and the result of the test event',
  },
  Type.Object({ ...fields, secret: text(sampleSecret), test: testSchema }),
);

/** What callers may set beside the address and the types. */
export const optionalInput = {
  filter: Type.Optional(filter),
  description: Type.Optional(description),
  enabled: Type.Optional(enabled),
  rateLimit: Type.Optional(rateLimit),
  ordering: Type.Optional(ordering),
  ed25519: Type.Optional(ed25519),
  headers: Type.Optional(headers),
  clientCertificate: unshown(clientCertificate),
};

export const endpointPath = Type.Object({ endpointId: text(sample.endpointId) });
