/** Strict schema validation, with error messages that name the field. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { build, type Schema } from 'fast-json-stringify';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { isAcceptableAddress } from '../../runtime/address.ts';
import { isCalendarDay, isDateTime } from '../../runtime/date-time.ts';
import { AppError, type ErrorCode } from '../../runtime/errors.ts';
import { hasDirectionMark } from '../../runtime/visible-text.ts';

/** Formats with their own error code; every other fault is invalid_request. */
const formatCodes: Record<string, ErrorCode> = { address: 'invalid_address', date: 'invalid_date_range' };

/**
 * JSON bodies are not coerced; query, path and form values are text, so they are parsed according to their schema. Each
 * schema is compiled when a request first needs it: compiling all of them took most of the start-up time.
 */
export function useStrictValidation(app: FastifyInstance): void {
  const forBodies = makeAjv(false);
  const forText = makeAjv(true);
  app.setValidatorCompiler(({ schema, httpPart, contentType }) => {
    const ajv = httpPart === 'body' && contentType !== 'multipart/form-data' ? forBodies : forText;
    let check: ValidateFunction | null = null;
    const validate: FastifyValidationResult = (data) => {
      check ??= ajv.compile(schema);
      const valid = check(data) as boolean;
      validate.errors = check.errors as FastifySchemaValidationError[] | null;
      return valid;
    };
    return validate;
  });
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof build> | null = null;
    return (data) => {
      serialize ??= build(schema as Schema);
      return serialize(data);
    };
  });
  app.setSchemaErrorFormatter((errors, part) => toAppError(errors, part));
}

function makeAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    removeAdditional: false,
    useDefaults: true,
    allErrors: false,
    strict: true,
    // The schemas are our own, and a test compares them with the OpenAPI document: validating them here took longer than
    // compiling those that a first request needs.
    validateSchema: false,
    // With strict numbers Ajv turns "1e999" into Infinity and then skips minimum and maximum for it.
    strictNumbers: !coerceTypes,
  });
  ajv.addFormat('address', isAcceptableAddress);
  ajv.addFormat('hash', /^0x[0-9a-fA-F]{64}$/);
  ajv.addFormat('date', isCalendarDay);
  ajv.addFormat('date-time', isDateTime);
  ajv.addFormat('plain-text', (text: string) => !hasDirectionMark(text));
  return ajv;
}

function toAppError(errors: FastifySchemaValidationError[], part: string): AppError {
  const error = errors[0] as ErrorObject | undefined;
  if (!error) return new AppError('invalid_request', `The ${part} is not valid.`);
  const field = fieldName(error.instancePath, part);
  const code = error.keyword === 'format' ? formatCodes[String(error.params.format)] : undefined;
  return new AppError(code ?? 'invalid_request', describe(error, field, part));
}

/** `/viewers/0` in a body becomes `viewers[0]`; the name of the part when the fault is at its root. */
function fieldName(instancePath: string, part: string): string {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (steps.length === 0)
    return part === 'querystring' ? 'The query' : part === 'params' ? 'The path' : 'The body';
  return steps.reduce(
    (name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  );
}

const described: Record<string, string> = {
  address:
    'must be an address: 0x followed by 40 hexadecimal digits, with a correct EIP-55 checksum if upper and lower case are mixed',
  hash: 'must be a hash of 32 bytes: 0x followed by 64 hexadecimal digits',
  date: 'must be a calendar day written YYYY-MM-DD',
  'plain-text': 'must not contain characters that change the text direction, such as U+202E',
  'date-time': 'must be a date and time with a time zone, such as 2026-11-15T12:00:00Z',
};

function describe(error: ErrorObject, field: string, part: string): string {
  const { keyword, params } = error;
  const member = (name: string) => (error.instancePath === '' ? name : `${field}.${name}`);
  switch (keyword) {
    case 'required':
      return `${member(params.missingProperty)} is required.`;
    case 'additionalProperties':
      return `${JSON.stringify(member(params.additionalProperty))} is not a known ${part === 'querystring' ? 'query parameter' : 'field'} here.`;
    case 'type':
      return `${field} must be ${article(String(params.type))}.`;
    case 'enum':
      return `${field} must be one of ${params.allowedValues.join(', ')}.`;
    case 'const':
      return `${field} must be ${JSON.stringify(params.allowedValue)}.`;
    case 'minLength':
      return params.limit === 1
        ? `${field} must not be empty.`
        : `${field} must have at least ${params.limit} characters.`;
    case 'maxLength':
      return `${field} must have at most ${params.limit} characters.`;
    case 'minItems':
      return `${field} must have at least ${counted(params.limit, 'item')}.`;
    case 'maxItems':
      return `${field} must have at most ${counted(params.limit, 'item')}.`;
    case 'uniqueItems':
      return `${field} must not contain the same item twice.`;
    case 'minimum':
      return `${field} must be at least ${params.limit}.`;
    case 'maximum':
      return `${field} must be at most ${params.limit}.`;
    case 'pattern':
      return `${field} must not be blank.`;
    case 'format':
      return `${field} ${described[String(params.format)] ?? `must be a ${params.format}`}.`;
    default:
      return `${field} ${error.message ?? 'is not valid'}.`;
  }
}

function counted(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function article(type: string): string {
  return type
    .split(',')
    .map((name) => (name === 'null' ? 'null' : /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`))
    .join(' or ');
}
