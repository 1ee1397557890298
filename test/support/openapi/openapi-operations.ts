/** The operations of a live /openapi.json, and the smallest valid request for each, for tests that walk every route. */

import type { Role, Scope } from '../../../src/runtime/caller.ts';
import type { CallOptions, Service } from '../service/service.ts';
import { withoutReferences } from './openapi-references.ts';

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Schema;
}

export interface Operation {
  /** Method and path, as in `GET /healthz`. */
  name: string;
  operationId: string;
  method: string;
  path: string;
  tags: string[];
  /** The scope that a key or a person needs; null if the operation needs a role or nothing. */
  scope: Scope | null;
  /** The role that a person needs, if the operation accepts no key. */
  role: Role | null;
  parameters: Parameter[];
  body: Schema | null;
  /** Accepts a form with a file beside JSON. */
  takesFile: boolean;
  /** By status; null if the document gives no schema. */
  responses: Record<string, Schema | null>;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface DocumentedOperation {
  operationId: string;
  tags?: string[];
  description?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export async function readOperations(service: Service): Promise<Operation[]> {
  const { json } = await service.call('GET', '/openapi.json', { key: null });
  const { paths: written } = withoutReferences(json);
  const paths = Object.entries(written as Record<string, Record<string, DocumentedOperation>>);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operationId: documented.operationId,
      method: method.toUpperCase(),
      path,
      tags: documented.tags ?? [],
      scope: named(documented, /Needs the scope `([a-z:]+)`\.$/) as Scope | null,
      role: named(documented, /Needs the role `([a-z]+)`\.$/) as Role | null,
      parameters: documented.parameters ?? [],
      body: schemaOf(documented.requestBody),
      takesFile: documented.requestBody?.content?.['multipart/form-data'] !== undefined,
      responses: Object.fromEntries(
        Object.entries(documented.responses).map(([status, response]) => [status, schemaOf(response)]),
      ),
    })),
  );
}

function named({ description = '' }: DocumentedOperation, need: RegExp): string | null {
  return need.exec(description)?.[1] ?? null;
}

function schemaOf(content: Content | undefined): Schema | null {
  const { 'application/json': json, 'text/event-stream': stream } = content?.content ?? {};
  return (json ?? stream)?.schema ?? null;
}

export function typesOf(schema: Schema): string[] {
  return [schema.type ?? []].flat();
}

/** Existing things, by the path parameter that names them; `cookie` is the session of an owner of the workspace. */
export type PathValues = Record<string, string>;

/** Credentials that may call the operation: a session if it accepts no key, otherwise the key of the service. */
export function credentialsFor({ scope, path }: Operation, { cookie }: PathValues): CallOptions {
  if (scope !== null || !path.startsWith('/api-v1/') || cookie === undefined) return {};
  return asPerson(cookie);
}

/** Headers like those of a request from the service's own pages. */
export function asPerson(cookie: string): { key: null; headers: Record<string, string> } {
  return { key: null, headers: { cookie, 'sec-fetch-site': 'same-origin' } };
}

/** Members of which a request needs one, so that none is required; and those that name a thing within a list. */
const oneOf: Record<string, (values: PathValues) => object> = {
  'PUT /api-v1/platform/holds': ({ recordId }) => ({ recordId, held: false }),
  'POST /api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/work-order/': ({ workerAddress }) => ({
    requests: [{ workerAddress, role: 'performed' }],
  }),
  'POST /api-v1/damc/workers/{address}/passkeys/{passkeyId}/sign': ({ assertion }) =>
    assertion === undefined ? { signature: `0x${'11'.repeat(64)}1b` } : { assertion: JSON.parse(assertion) },
};

/** Method, path and options of a request with everything the operation needs and nothing else. */
export function smallestRequest(
  operation: Operation,
  values: PathValues,
): [method: string, path: string, options: CallOptions] {
  const existing: PathValues = {
    ...(values.address !== undefined && { viewerAddress: values.address }),
    ...(values.workerAddress !== undefined && { workerAddress: values.workerAddress }),
  };
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(existing[name] ?? String(smallest(schema)))}`)
    .join('&');
  const path = fillPath(operation, values) + (query === '' ? '' : `?${query}`);
  const empty = operation.body === null || Object.keys(operation.body.properties ?? {}).length === 0;
  return [
    operation.method,
    path,
    {
      ...credentialsFor(operation, values),
      ...(!empty && {
        body: {
          ...(smallestBody(operation.body ?? {}, values) as object),
          ...oneOf[operation.name]?.(values),
        },
      }),
    },
  ];
}

/**
 * Why a walk over all routes does not get through at each of them: nothing is confirmed, and what a body names is the thing
 * itself, its owner, or somebody who has signed or joined before.
 */
const expectedConflicts: [request: RegExp, reason: RegExp][] = [
  [/^GET .*\/validations\/\{validationId\}\/proof$/, /has no result yet|not confirmed on the chain yet/],
  [/^GET .*\/audit-log\/proof$/, /audit log has no confirmed anchor yet/],
  [/^GET .*\/(proof|certificate|evidence|history)\/?$/, /not confirmed on the chain yet/],
  [/^GET .*\/passkeys\/\{passkeyId\}\/sign$/, /The passkey .* is (revoked|active|refused)/],
  [/^GET .*\/release-certificate\/$/, /is not certified, so there is no release certificate/],
  [/^POST .*\/transfer\/?$/, /already belongs to the vault/],
  [/^POST .*\/install\/$/, /cannot be installed in itself/],
  [/^POST .*\/remove\/$/, /is not installed anywhere/],
  [/^POST .*\/signoffs\/$/, /has already signed as performed/],
  [/\/(signoffs\/request|work-order)\/$|^POST .*\/signoffs\/requests\/$/, /The service holds the key of/],
  [/^POST .*\/collect$/, /nothing to collect of .*it is not approved/],
  [/^POST .*\/invitations\/accept$/, /already a member of this workspace/],
];

/** The keys of tests are those of an operator, and workers have passkeys. */
const expectedRefusals: typeof expectedConflicts = [
  [/\/invite$/, /made on the command line/],
  [/\/passkeys\/\{passkeyId\}\/sign$/, /send its assertion, and no signature/],
];

/** Whether the request succeeded, or failed for the reason that is expected of it. `said`: the answer, or its message. */
export function isSuccess({ name }: Operation, status: number, said: string): boolean {
  if (status < 300) return true;
  const expected = { 403: expectedRefusals, 409: expectedConflicts }[status] ?? [];
  return expected.find(([request]) => request.test(name))?.[1].test(said) ?? false;
}

/** A body that names existing things wherever it must name something. */
function smallestBody(schema: Schema, values: PathValues): unknown {
  return namingExisting(smallest(schema), values);
}

/** The same body, but with existing things. */
export function namingExisting(body: unknown, values: PathValues): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { vaultAddress, address, workerAddress, assetId, fileId, memberId, token, code, deliveryId } = values;
  const { registration, assertion, signedAt } = values;
  const existing = {
    vaultAddress,
    destinationVaultAddress: vaultAddress,
    workerAddress,
    ...(address !== undefined && { workers: [address] }),
    ...(fileId !== undefined && { fileIds: [fileId] }),
    parentAssetId: assetId,
    userId: memberId,
    token,
    code,
    deliveryId,
    ...(registration !== undefined && { response: JSON.parse(registration) }),
    ...(assertion !== undefined && { assertion: JSON.parse(assertion), signedAt, fileId }),
  };
  const named = Object.entries(existing).filter(
    ([name, value]) => Object.hasOwn(body, name) && value !== undefined,
  );
  return { ...body, ...Object.fromEntries(named) };
}

export function fillPath({ name, path }: Operation, values: PathValues): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`${name}: this test needs a value for {${parameter}}`);
    return encodeURIComponent(value);
  });
}

/** An address on this machine where nobody listens: a webhook sent there fails at once and has no effect elsewhere. */
export const someTarget = 'https://127.0.0.1:9/hook';

/** Settings under which this is a valid target, and no test waits for a receiver. */
export const webhookSettings = {
  HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
  HOLDFAST_WEBHOOK_TIMEOUT_MS: '1000',
};

export const someAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

export const someHash = `0x${'ab'.repeat(32)}`;

/** Members with more constraints than their schema states. */
const membersByName: Record<string, unknown> = {
  url: someTarget,
  from: '2020-01-31T00:00:00Z',
  at: '2020-01-31T00:00:00Z',
  performedAt: '2020-01-31T00:00:00Z',
  every: { days: 1 },
};

/** The smallest value that fits a schema. */
export function smallest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  switch (typesOf(schema)[0]) {
    case 'string':
      if (schema.format === 'address') return someAddress;
      if (schema.format === 'hash') return someHash;
      if (schema.format === 'date') return '2030-01-31';
      if (schema.format === 'date-time') return '2030-01-31T00:00:00Z';
      return 'a'.repeat(schema.minLength ?? 0);
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => smallest(schema.items ?? {}));
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          membersByName[name] ?? smallest(schema.properties?.[name] ?? {}),
        ]),
      );
  }
}
