/** Whom a proof was judged by: trust.txt for people, and trust.json with the roots that the operator chose. */
import { knownChains } from '../../proof/evm/known-chains.ts';
import { shippedRoots } from '../../proof/rfc3161/shipped-roots.ts';
import { trustFormat } from '../../proof/verify/trust.ts';
import type { OperatorRoot } from '../certificates/operator-roots.ts';
import type { PackagedFile } from './zip-archive.ts';

export function trustFiles(operatorRoots: readonly OperatorRoot[]): PackagedFile[] {
  const text = (path: string, text: string) => ({ path, bytes: Buffer.from(text) });
  const pems = operatorRoots.map(({ pem }) => pem);
  const trust = { format: trustFormat, tsaRoots: pems };
  return [
    text('trust.txt', trustText(operatorRoots)),
    ...(pems.length === 0 ? [] : [text('trust.json', `${JSON.stringify(trust, null, 2)}\n`)]),
  ];
}

function trustText(operatorRoots: readonly OperatorRoot[]): string {
  const chains = knownChains.filter(({ test }) => !test);
  return `${[
    'WHOM THE EVIDENCE IS JUDGED BY',
    '',
    'This ships with Holdfast and is the same for everybody:',
    '',
    'Public chains, by their id and the hash of their first block',
    ...chains.map(
      ({ name, chainId, genesisHash }) => `  ${`${name} (${chainId})`.padEnd(22)} ${genesisHash}`,
    ),
    '',
    'Root certificates of timestamp authorities, by their SHA-256',
    ...shippedRoots.flatMap(({ name, fingerprint }) => [`  ${name}`, `    ${fingerprint.slice(2)}`]),
    '',
    ...(operatorRoots.length === 0
      ? ['The operator of the service has chosen no other root certificates.']
      : [
          'The operator of the service has chosen these root certificates for timestamps instead. They are in',
          'trust.json, for "holdfast verify --trust". It is for you to decide whether you trust them:',
          ...operatorRoots.flatMap(({ anchor }) => [
            `  ${anchor.name}`,
            `    ${anchor.fingerprint.slice(2)}`,
          ]),
        ]),
  ].join('\r\n')}\r\n`;
}
