/** Headers that an endpoint's owner adds to each request, such as a token of the receiver. Their values are secrets. */
import { AppError } from '../../runtime/errors.ts';

export interface OwnHeader {
  name: string;
  value: string;
}

export const headerLimits = { count: 20, nameLength: 100, valueLength: 4000 };
export const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
/** Visible ASCII with spaces and tabs inside, as HTTP has it. */
export const headerValuePattern = '^[\\x21-\\x7e]([\\x20-\\x7e\\t]*[\\x21-\\x7e])?$';

/** Those of the connection, of the body, and those that a receiver must be able to trust. */
const reserved = new Set([
  ...[
    'host',
    'connection',
    'keep-alive',
    'proxy-connection',
    'transfer-encoding',
    'te',
    'trailer',
    'upgrade',
  ],
  ...['expect', 'user-agent', 'date', 'via', 'forwarded'],
]);
const reservedPrefixes = ['content-', 'webhook-', 'proxy-', 'sec-', 'x-forwarded-'];

/** In lower case. Refuses names that are reserved or given twice. */
export function checkHeaders(headers: OwnHeader[]): OwnHeader[] {
  const seen = new Set<string>();
  return headers.map(({ name, value }) => {
    const lower = name.toLowerCase();
    const isReserved =
      reserved.has(lower) ||
      reservedPrefixes.some((prefix) => lower.startsWith(prefix)) ||
      /^x-.*-signature$/.test(lower);
    if (isReserved) throw new AppError('invalid_request', `headers: ${lower} is set by the service.`);
    if (seen.has(lower)) throw new AppError('invalid_request', `headers: ${lower} is given twice.`);
    seen.add(lower);
    return { name: lower, value };
  });
}
