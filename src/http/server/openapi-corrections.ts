/** Corrects what the OpenAPI generator cannot know: files in forms, optional parts, and the meaning of answers. */
import { fileField } from '../bodies/multipart.ts';

interface Body {
  properties?: Record<string, { type?: string; default?: unknown }>;
  required?: string[];
}

interface Operation {
  security?: object[];
  responses?: Record<string, Response>;
  parameters?: { required?: boolean; schema?: { default?: unknown } }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Body }> };
}

/** The generator's text where a route has no description. */
const nothingSaid = 'Default Response';

interface Response {
  description?: string;
  content?: Record<string, { schema?: { type?: string } }>;
}

/** The generator marks every body as required, and everything with a default. */
export function corrected<T extends { paths?: object }>(document: T): T {
  const items: Record<string, Operation>[] = Object.values(document.paths ?? {});
  for (const operation of items.flatMap((item) => Object.values(item))) {
    operation.security ??= [];
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      response.description = meaningOf(status, response);
    }
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema?.default !== undefined) parameter.required = false;
    }
    const { requestBody } = operation;
    if (!requestBody) continue;
    for (const [type, media] of Object.entries(requestBody.content)) {
      if (media.schema) media.schema = describedBody(type, media.schema);
    }
    const body = requestBody.content['application/json']?.schema;
    if (!body) continue;
    if (Object.keys(body.properties ?? {}).length === 0) delete operation.requestBody;
    else requestBody.required = (body.required ?? []).length > 0;
  }
  return document;
}

const binary = { type: 'string', format: 'binary', description: 'The bytes' };

/** A copy, because the original may be used to validate requests. */
function describedBody(type: string, { required = [], properties = {}, ...rest }: Body): Body {
  const needed = required.filter((name) => properties[name]?.default === undefined);
  return {
    ...rest,
    properties: type === 'multipart/form-data' ? { ...properties, [fileField]: binary } : properties,
    ...(needed.length > 0 && { required: needed }),
  };
}

function meaningOf(status: string, { content, description = '' }: Response): string {
  if (status.startsWith('4')) return 'The request was refused; `errorCode` says why';
  if (status.startsWith('5'))
    return 'The service failed, or something it depends on is unavailable; `errorCode` says which';
  if (status === '204') return 'Done; the response has no body';
  if (description !== nothingSaid) return description;
  const { type } = content?.['application/json']?.schema ?? {};
  return type === 'array' && status === '200' ? 'One page of the list' : 'The result';
}
