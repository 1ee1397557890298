/** The operations of the OpenAPI document, in the form from which the clients are generated. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface WrittenOperation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content & { headers?: object }>;
}

export interface OpenApiDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, WrittenOperation>>;
  webhooks: Record<string, { post: WrittenOperation }>;
}

export interface Argument {
  name: string;
  in: 'path' | 'query' | 'body';
  schema: Schema;
  /** In every form of the body. */
  isRequired: boolean;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** What it does and which scope it needs. */
  summary: string;
  /** Of the path, the query and the body together: no two have the same name. */
  arguments: Argument[];
  takesKey: boolean;
  takesIfMatch: boolean;
  takesFile: boolean;
  /** Has pages. */
  hasCursor: boolean;
  /** Answers with an array, in pages or in one. */
  isList: boolean;
  /** Sending it twice does what sending it once does. */
  isRepeatable: boolean;
  /** JSON of this form; null: something else than JSON. */
  answer: Schema | null;
  /** May answer without a body. */
  mayBeEmpty: boolean;
  isText: boolean;
}

export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, written]) =>
      operationOf(document, { path, method: method.toUpperCase(), written }),
    ),
  );
}

/** The schema itself, or the one that it refers to. */
export function resolved(document: OpenApiDocument, schema: Schema): Schema {
  const name = referredName(schema);
  return name === null ? schema : (document.components.schemas[name] ?? schema);
}

export function referredName({ $ref }: Schema): string | null {
  return $ref?.split('/').at(-1) ?? null;
}

/** From the bodies of errors, which all have one form. */
export function errorCodesOf({ components }: OpenApiDocument): string[] {
  return (components.schemas.Error?.properties?.errorCode?.enum ?? []) as string[];
}

/** Event types and the names of their schemas. */
export function eventsOf({ webhooks }: OpenApiDocument): { type: string; name: string; about: string }[] {
  return Object.entries(webhooks).map(([type, { post }]) => ({
    type,
    name: referredName(post.requestBody?.content?.['application/json']?.schema ?? {}) ?? '',
    about: post.summary,
  }));
}

function operationOf(
  document: OpenApiDocument,
  { path, method, written }: { path: string; method: string; written: WrittenOperation },
): Operation {
  const { operationId: id, parameters = [], requestBody } = written;
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const success = Object.entries(written.responses).filter(([status]) => status.startsWith('2'));
  const contents = success.flatMap(([, { content }]) => Object.entries(content ?? {}));
  const json = contents.find(([type]) => type === 'application/json')?.[1].schema ?? null;
  const takesKey = headers.includes('idempotency-key');
  return {
    id,
    method,
    path,
    summary: [written.summary, scopeOf(written)].filter(Boolean).join('. '),
    arguments: [
      ...parameters
        .filter((parameter) => parameter.in !== 'header')
        .map(({ name, schema, required = false, in: where }) => ({
          name,
          schema,
          in: where as Argument['in'],
          isRequired: required,
        })),
      ...bodyArguments(document, requestBody),
    ],
    takesKey,
    takesIfMatch: headers.includes('if-match'),
    takesFile: requestBody?.content?.['multipart/form-data'] !== undefined,
    hasCursor: success.some(([, { headers = {} }]) => 'X-Next-Cursor' in headers),
    isList: id.startsWith('list') && json !== null && resolved(document, json).type === 'array',
    isRepeatable: method !== 'POST' || takesKey || /^(list|get)/.test(id),
    answer: json,
    mayBeEmpty: success.some(([status]) => status === '204'),
    isText: contents.some(([type]) => type === 'text/plain'),
  };
}

/** Members of the body. Where it has two forms, JSON and a form with a file, those of both. */
function bodyArguments(document: OpenApiDocument, body: WrittenOperation['requestBody']): Argument[] {
  const forms = Object.values(body?.content ?? {}).map(({ schema }) => resolved(document, schema));
  const names = new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)));
  return [...names].map((name) => ({
    name,
    in: 'body',
    schema: forms.find(({ properties }) => properties?.[name])?.properties?.[name] ?? {},
    isRequired: forms.every(({ required = [] }) => required.includes(name)),
  }));
}

function scopeOf({ description = '' }: WrittenOperation): string {
  return /Needs the (scope|role) `[a-z:]+`\.$/.exec(description)?.[0] ?? '';
}
