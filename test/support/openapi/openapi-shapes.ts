/** Checks a response against the description of its operation in /openapi.json. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isAcceptableAddress } from '../../../src/runtime/address.ts';
import { hasDirectionMark } from '../../../src/runtime/visible-text.ts';
import { type Answer, isEventStream } from '../service/service.ts';
import { assertError, assertProblem } from './openapi-answers.ts';
import type { Operation, Schema } from './openapi-operations.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('address', isAcceptableAddress);
ajv.addFormat('hash', /^0x[0-9a-fA-F]{64}$/);
ajv.addFormat('plain-text', (text: string) => !hasDirectionMark(text));
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/);
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/);

/** Fails unless the response is a documented success or an error of the common shape. */
export function assertDocumented(operation: Operation, answer: Answer): void {
  assert.ok(answer.status < 500, `${answer.status}: ${answer.text}`);
  if (answer.status >= 300 && answer.status !== 304) {
    if (/problem/.test(answer.headers.get('content-type') ?? '')) assertProblem(answer);
    else assertError(answer);
    return;
  }
  const schema = operation.responses[answer.status];
  assert.notEqual(schema, undefined, `${answer.status} is not documented`);
  if (answer.status === 204) assert.equal(answer.text, '');
  else if (schema)
    assert.ok(
      fitsSchema(schema, isEventStream(answer.headers.get('content-type')) ? answer.text : answer.json),
      `${ajv.errorsText(validator(schema).errors)}: ${answer.text}`,
    );
}

const validators = new Map<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

export function fitsSchema(schema: Schema, value: unknown): boolean {
  return validator(schema)(value) as boolean;
}
