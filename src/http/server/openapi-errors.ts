/** Example errors of the OpenAPI document: those that an operation is likely to return, with their actual messages. */
import type { ErrorCode } from '../../runtime/errors.ts';
import { sample } from '../../runtime/schemas.ts';
import { type ErrorBody, errorPagePath } from '../api/error-reply.ts';

/** The parts of an operation that decide which errors it can have. */
export interface Refusable {
  security?: object[];
  parameters?: { in: string; name: string; required?: boolean }[];
  requestBody?: { content: Record<string, { schema?: { required?: string[] } }> };
}

/** By error code; those shared by many operations are in the components. */
export type ErrorExamples = Record<string, { $ref: string } | { value: ErrorBody }>;

/** Messages for path parameters that name nothing; if a path has several, the first one here is used. */
const missing: Record<string, string> = {
  vaultAddress: `There is no vault ${sample.vaultAddress}.`,
  recordId: `There is no record ${sample.recordId}.`,
  validationId: `There is no validation ${sample.validationId} of the file ${sample.fileId}.`,
  fileId: `There is no file ${sample.fileId}.`,
  requestId: `There is no request to sign ${sample.signRequestId}.`,
  assetId: `There is no asset ${sample.assetId}.`,
  address: `There is no worker ${sample.workerAddress}.`,
  endpointId: `There is no webhook endpoint ${sample.endpointId}.`,
  deliveryId: `There is no delivery ${sample.deliveryId}.`,
  replayId: `There is no replay ${sample.replayId}.`,
  approvalId: `There is no approval ${sample.approvalId}.`,
  keyId: `There is no API key ${sample.keyId}.`,
  memberId: `There is no member ${sample.userId}.`,
  sessionId: `You have no session ${sample.sessionId}.`,
  passkeyId: 'You have no passkey psk_01KJPT3YW0RPGTEA3W2DN4G08C.',
  invitationId: `There is no open invitation ${sample.invitationId}.`,
};

/** The components that the examples of operations refer to. */
export const sharedErrors: Record<string, { value: ErrorBody }> = {
  unauthorized: example(
    'unauthorized',
    'The x-api-key header is missing, and there is no session. Send a key, or sign in.',
  ),
  service_unavailable: example(
    'service_unavailable',
    'The database cannot be reached just now. Try again shortly.',
  ),
  ...Object.fromEntries(
    Object.entries(missing).map(([name, message]) => [
      `resource_not_found.${name}`,
      example('resource_not_found', message),
    ]),
  ),
};

export function errorExamplesOf(operation: Refusable, status: string): ErrorExamples {
  if (status.startsWith('5')) return { service_unavailable: shared('service_unavailable') };
  const { security = [], parameters = [], requestBody } = operation;
  const named = new Set(parameters.filter((one) => one.in === 'path').map(({ name }) => name));
  const thing = Object.keys(missing).find((name) => named.has(name));
  const [needed] = [
    ...(requestBody?.content['application/json']?.schema?.required ?? []),
    ...parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => name),
  ];
  const found: ErrorExamples = {
    ...(needed !== undefined && { invalid_request: example('invalid_request', `${needed} is required.`) }),
    ...(security.length > 0 && { unauthorized: shared('unauthorized') }),
    ...(thing !== undefined && { resource_not_found: shared(`resource_not_found.${thing}`) }),
  };
  if (Object.keys(found).length > 0) return found;
  return { invalid_request: example('invalid_request', 'The Host header is missing.') };
}

function shared(name: string): { $ref: string } {
  return { $ref: `#/components/examples/${name}` };
}

function example(errorCode: ErrorCode, message: string): { value: ErrorBody } {
  const docUrl = `https://holdfast.example.com${errorPagePath}#${errorCode}`;
  return { value: { message, errorCode, docUrl, timestamp: sample.toldAt } };
}
