/** The text fields of the options: what may be entered, and what is said of anything else. */
import { isCalendarDay, isDateTime } from '../../src/runtime/date-time.ts';
import { element } from './file-card.ts';

const fields = {
  rpc: {
    isRight: isRpcAddress,
    fault: 'Enter an address that begins with https://, or with http:// on this machine.',
  },
  at: {
    isRight: (text: string) => isCalendarDay(text) || isDateTime(text),
    fault: 'Enter a date such as 2046-01-31, or a time such as 2046-01-31T12:00:00Z.',
  },
  salt: {
    isRight: (text: string) => /^(0x)?[0-9a-f]{64}$/i.test(text),
    fault: 'Enter a salt of 32 bytes: 64 hex digits.',
  },
  registry: {
    isRight: (text: string) => /^0x[0-9a-f]{40}$/i.test(text),
    fault: 'Enter an address: 0x followed by 40 hex digits.',
  },
};

/** Null when the field is invalid; it then shows why. */
export function readField(name: keyof typeof fields): string | null {
  const { isRight, fault } = fields[name];
  const field = element<HTMLInputElement>(name);
  const text = field.value.trim();
  const right = text === '' || isRight(text);
  field.setAttribute('aria-invalid', String(!right));
  element(`${name}-fault`).textContent = right ? '' : fault;
  return right ? text : null;
}

/** The addresses that the page's content security policy allows. */
function isRpcAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname));
}
