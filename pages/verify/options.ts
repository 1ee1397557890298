/** What the visitor chooses beside the files: a chain node, whom to trust, as of when, salt and registry. */
import type { Hex } from 'viem';
import { createAnchorReader } from '../../src/chain/registry/anchor-reader.ts';
import { registryCode, usualRegistry } from '../../src/proof/evm/usual-registry.ts';
import { readTrust, shippedTrust, type Trust } from '../../src/proof/verify/trust.ts';
import { isCalendarDay, isDateTime } from '../../src/runtime/date-time.ts';
import { parseJsonText } from '../../src/runtime/json-text.ts';
import { element } from './file-card.ts';
import { createRpcCall } from './rpc-call.ts';

/** A million hashes of Bitcoin blocks have 100 MB. */
const maxTrustBytes = 128 * 1024 * 1024;

const faults = {
  rpc: 'Enter an address that begins with https://, or with http:// on this machine.',
  at: 'Enter a date such as 2046-01-31, or a time such as 2046-01-31T12:00:00Z.',
  salt: 'Enter a salt of 32 bytes: 64 hex digits.',
  registry: 'Enter an address: 0x followed by 40 hex digits.',
};

export type Options = NonNullable<Awaited<ReturnType<typeof readOptions>>>;

export function showUsualRegistry(): void {
  element<HTMLInputElement>('registry').placeholder = usualRegistry;
}

/** Null when a field is invalid; the field then shows why. */
export async function readOptions(form: HTMLFormElement, trustFile: File | null) {
  const node = new FormData(form).get('node');
  element('own-node').hidden = node !== 'own';
  const rpc = node === 'own' ? readField('rpc', isRpcAddress) : '';
  const at = readField('at', (text) => isCalendarDay(text) || isDateTime(text));
  const salt = readField('salt', (text) => /^(0x)?[0-9a-f]{64}$/i.test(text));
  const registry = readField('registry', (text) => /^0x[0-9a-f]{40}$/i.test(text));
  const trust = await readTrustFile(trustFile);
  if (at === null || salt === null || registry === null || trust === null) {
    element<HTMLDetailsElement>('options').open = true;
    return null;
  }
  if (rpc === null) return null;
  const address = node === 'service' ? '/verify/rpc' : rpc;
  return {
    trust,
    at: at === '' ? Date.now() : Date.parse(at),
    chain: address === '' ? undefined : createAnchorReader(createRpcCall(address)),
    registry: { address: registry || usualRegistry, codeHash: registryCode },
    salt: salt === '' ? undefined : (`0x${salt.toLowerCase().replace(/^0x/, '')}` as Hex),
  };
}

function readField(name: keyof typeof faults, isRight: (text: string) => boolean): string | null {
  const field = element<HTMLInputElement>(name);
  const text = field.value.trim();
  const right = text === '' || isRight(text);
  field.setAttribute('aria-invalid', String(!right));
  element(`${name}-fault`).textContent = right ? '' : faults[name];
  return right ? text : null;
}

/** The addresses that the page's content security policy allows. */
function isRpcAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname));
}

/** Every check asks for it, and a file may be large. */
let kept: { file: File; trust: Trust } | null = null;

async function readTrustFile(file: File | null): Promise<Trust | null> {
  const fault = element('trust-fault');
  fault.textContent = '';
  if (file === null) return shippedTrust;
  if (kept?.file === file) return kept.trust;
  try {
    if (file.size > maxTrustBytes) throw new Error('It is too large.');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    const trust = readTrust(parseJsonText(text));
    kept = { file, trust };
    return trust;
  } catch (error) {
    fault.textContent = `${file.name} cannot be used as a trust file: ${reasonOf(error)}`;
    return null;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'It is not text in UTF-8.';
  return error instanceof SyntaxError ? 'It is not JSON.' : (error as Error).message;
}
