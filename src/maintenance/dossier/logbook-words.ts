/** Wording of logbooks and release certificates: times, roles, anchor status, and the asset itself. */

import type { AnchorState } from '../../anchoring/anchored.ts';
import type { ChainKind } from '../../holdings/certificates/certificate-input.ts';
import { chainInWords } from '../../holdings/certificates/certificate-words.ts';
import type { Pair } from '../../pdf/blocks.ts';
import { openFace } from '../../pdf/faces.ts';
import { showable } from '../../pdf/showable.ts';
import { readCharacters } from '../../pdf/world-face.ts';
import type { Anchored, Dossier } from '../dossier-check/dossier-format.ts';
import type { SignoffRole } from '../signing/signoff-rules.ts';

export const roleWords: Record<SignoffRole, string> = {
  performed: 'Performed',
  inspected: 'Inspected',
  certified: 'Certified',
};

/** `2026-11-15 08:36` in UTC. */
export function dayAndMinute(time: string | Date): string {
  const text = typeof time === 'string' ? time : time.toISOString();
  return text.slice(0, 16).replace('T', ' ');
}

export function stateInWords(
  { status, anchor }: Anchored | AnchorState,
  { chain }: { chain: ChainKind },
): string {
  if (anchor === null) return 'Not anchored yet.';
  const { chainId, blockNumber, anchoredAt } = anchor;
  const final = status === 'finalized' ? 'final' : 'not final yet';
  return `Anchored in block ${blockNumber.toLocaleString('en-US')} of ${chainInWords({ ...chain, chainId })} on ${dayAndMinute(anchoredAt)}, ${final}.`;
}

export function blocksOfAsset({ asset, owner }: Pick<Dossier, 'asset' | 'owner'>): Pair[] {
  const { usage, usageFromParents, metadata } = asset;
  return [
    { name: 'Name', value: { text: asset.name || '(none given)', strong: true } },
    { name: 'Id', value: asset.assetId },
    { name: 'Serial number', value: asset.serialNumber || '(none given)' },
    { name: 'Part number', value: asset.partNumber || '(none given)' },
    { name: 'Owner', value: { text: owner.name || '(no name)', note: owner.address } },
    {
      name: 'Usage',
      value: usageInWords(usage),
    },
    ...(usageFromParents && usageFromParents.hours + usageFromParents.cycles > 0
      ? [
          {
            name: 'Usage from parents',
            value: {
              text: usageInWords(usageFromParents),
              note: 'What the assets that it was installed in ran meanwhile, as the service computed it from their entries. Not proven by this dossier: their dossiers have the entries.',
            },
          },
        ]
      : []),
    ...(asset.parentAssetId === null ? [] : [{ name: 'Installed in', value: asset.parentAssetId }]),
    ...Object.entries(metadata)
      .slice(0, mostMetadata)
      .map(([name, value]) => ({ name: shortened(name), value: inWords(value) })),
  ];
}

function usageInWords({ hours, cycles }: Dossier['asset']['usage']): string {
  return `${hours.toLocaleString('en-US')} hours, ${cycles.toLocaleString('en-US')} cycles`;
}

/** JSON in readable form; long values are cut. */
export function inWords(value: unknown): string {
  const words = wordsOf(value);
  if (words.length <= mostOfValue) return words;
  const left = (words.length - mostOfValue).toLocaleString('en-US');
  return `${words.slice(0, mostOfValue).toWellFormed()}… (${left} more characters in the dossier)`;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Object.values(value).some((item) => typeof item === 'object')) return JSON.stringify(value);
  if (Array.isArray(value)) return value.join(', ');
  return Object.entries(value)
    .map(([name, item]) => `${name} ${item}`)
    .join(', ');
}

/** For places without line breaks. */
export function shortened(name: string, length = 24): string {
  const characters = readCharacters(showable(name, openFace('sans')));
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('');
}

/** The rest is in dossier.json. */
const mostMetadata = 30;
/** One or two pages. */
const mostOfValue = 4_000;
