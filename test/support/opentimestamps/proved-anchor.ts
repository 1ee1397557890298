/** Anchors whose blocks really have what their files lead to. */
import type { OpenTimestampsAnchor } from '../../../src/proof/opentimestamps/anchor.ts';
import { type MadeBlock, makeBlock, putIntoBlock } from './bitcoin-block.ts';
import {
  append,
  attestation,
  bitcoinAttestation,
  detachedFile,
  hashed,
  pendingAttestation,
  prepend,
  sha256,
  startTrail,
  type Trails,
} from './trails.ts';

export interface ProvedAnchor {
  imprint: Buffer;
  file: Buffer;
  block: MadeBlock;
  anchor: OpenTimestampsAnchor;
  /** Parts of the file that no block vouches for. */
  unproved: { what: string; start: number; end: number }[];
}

export const aTime = Date.UTC(2026, 2, 1, 12);

export function anchorOf(file: Uint8Array, ...blocks: MadeBlock[]): OpenTimestampsAnchor {
  const headers = blocks.map(({ height, header }) => ({ height, header }));
  return { type: 'opentimestamps', proof: Buffer.from(file).toString('base64'), headers };
}

/** A file with nothing but the way to one block. */
export function provedAnchor({ height = 800_000, time = aTime, of = 'root' } = {}): ProvedAnchor {
  const imprint = sha256(sha256(Buffer.from(of)));
  const root = putIntoBlock(calendarTrail(hashed(append(startTrail(imprint), Buffer.alloc(16, height)))));
  const block = makeBlock({ height, time, merkleRoot: root.message });
  const file = detachedFile(imprint, ...(root.operations[0] ?? []), bitcoinAttestation(height));
  return { imprint, file, block, anchor: anchorOf(file, block), unproved: [] };
}

/** Like a file after an upgrade: one calendar is complete, the other one and some unknown attestations are not. */
export function upgradedAnchor({ height = 800_000, time = aTime, of = 'root' } = {}): ProvedAnchor {
  const imprint = sha256(sha256(Buffer.from(of)));
  const nonced = hashed(append(startTrail(imprint), Buffer.alloc(16, 7)));
  const first = calendarTrail(restarted(nonced));
  const root = putIntoBlock(restarted(first));
  const second = prepend(restarted(nonced), Buffer.from('another calendar'));
  const fork = Buffer.from([0xff]);
  const parts: { what: string; bytes: Buffer }[] = [
    { what: '', bytes: detachedFile(imprint, ...(nonced.operations[0] ?? []), fork) },
    { what: '', bytes: Buffer.concat([...(first.operations[0] ?? []), fork]) },
    {
      what: 'the pending attestation of a complete calendar',
      bytes: pendingAttestation('https://one.example'),
    },
    { what: '', bytes: Buffer.concat([...(root.operations[0] ?? []), bitcoinAttestation(height)]) },
    { what: 'the branch of another calendar', bytes: Buffer.concat([...(second.operations[0] ?? []), fork]) },
    { what: 'a Litecoin attestation', bytes: attestation('06869a0d73d71b45', Buffer.from([0x85, 0x01])) },
    { what: '', bytes: fork },
    { what: 'an unknown attestation', bytes: attestation('0102030405060708', Buffer.from('payload')) },
    { what: 'a pending attestation', bytes: pendingAttestation('https://two.example') },
  ];
  const unproved: ProvedAnchor['unproved'] = [];
  let start = 0;
  for (const { what, bytes } of parts) {
    if (what !== '') unproved.push({ what, start, end: start + bytes.length });
    start += bytes.length;
  }
  const file = Buffer.concat(parts.map(({ bytes }) => bytes));
  const block = makeBlock({ height, time, merkleRoot: root.message });
  return { imprint, file, block, anchor: anchorOf(file, block), unproved };
}

function calendarTrail(trail: Trails): Trails {
  return append(
    prepend(hashed(append(trail, sha256(Buffer.from('neighbour')))), Buffer.alloc(4, 1)),
    Buffer.alloc(8, 2),
  );
}

/** From the same message, without the operations that led to it. */
function restarted({ message }: Trails): Trails {
  return startTrail(message);
}
