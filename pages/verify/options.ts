/** What the visitor chooses beside the files: a chain node, whom to trust, as of when, salt and registry. */
import type { Hex } from 'viem';
import { createAnchorReader } from '../../src/chain/registry/anchor-reader.ts';
import { registryCode, usualRegistry } from '../../src/proof/evm/usual-registry.ts';
import { element } from './file-card.ts';
import { readField } from './option-field.ts';
import { createRpcCall } from './rpc-call.ts';
import { readTrustFile } from './trust-file.ts';

export type Options = NonNullable<Awaited<ReturnType<typeof readOptions>>>;

export function showUsualRegistry(): void {
  element<HTMLInputElement>('registry').placeholder = usualRegistry;
}

/** Null when a field is invalid; the field then shows why. */
export async function readOptions(form: HTMLFormElement, trustFile: File | null) {
  const node = new FormData(form).get('node');
  element('own-node').hidden = node !== 'own';
  const rpc = node === 'own' ? readField('rpc') : '';
  const at = readField('at');
  const salt = readField('salt');
  const registry = readField('registry');
  const trust = await readTrustFile(trustFile);
  if (at === null || salt === null || registry === null || trust === null) {
    element<HTMLDetailsElement>('options').open = true;
    return null;
  }
  if (rpc === null) return null;
  const address = node === 'service' ? '/verify/rpc' : rpc;
  return {
    trust,
    ...(at === '' ? {} : { at: Date.parse(at) }),
    chain: address === '' ? undefined : createAnchorReader(createRpcCall(address)),
    registry: { address: registry || usualRegistry, codeHash: registryCode },
    salt: salt === '' ? undefined : (`0x${salt.toLowerCase().replace(/^0x/, '')}` as Hex),
  };
}
