/**
 * What a visitor of a published page gets. It is put together from the chosen fields, one by one: what no field here names
 * cannot be shown.
 */

import { findWorkspace } from '../../access/workspaces/workspaces.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { dateAndTime } from '../../holdings/certificates/certificate-words.ts';
import type { FileContent, FileContents } from '../../holdings/files/file-content.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { type Asset, findAsset } from '../assets/assets.store.ts';
import {
  findMaintenance,
  findSignoff,
  type Maintenance,
  type WholeMaintenance,
} from '../entries/maintenances.store.ts';
import { isRetired } from '../intervals/asset-due.ts';
import type { AttachedFile, MaintenanceEntry } from '../signing/maintenance-entry.ts';
import type { AssetField, EntryChoices, EntryField } from './choices.ts';
import { entryIdOf, entryRef } from './entry-refs.ts';
import {
  fileKey,
  findPage,
  isChosen,
  listChosen,
  type OpenPage,
  type PageAddress,
  readDocuments,
  readFiles,
} from './published-pages.store.ts';

/** A label and what it says. */
export type Fact = readonly [string, string];

export interface ShownPage {
  /** The name of the asset, if it is shown. */
  name: string | null;
  facts: Fact[];
  until: Date;
  /** Null: no entries are shown. */
  entries: { items: ShownEntry[]; next: string | null } | null;
}

export interface ShownEntry {
  ref: string;
  type: string | null;
  summary: string | null;
  facts: Fact[];
  /** The owner has recorded a correction of it. */
  corrected: boolean;
  release: 'in force' | 'withdrawn' | 'none' | null;
  signoffs: ShownSignoff[];
  files: ShownFile[];
  /** How a visitor can check it; null: not chosen. `whole`: with all that it says. */
  check: { sealedAt: Date | null; whole: boolean } | null;
}

export interface ShownSignoff {
  number: number;
  text: string;
  /** It can be checked. */
  sealed: boolean;
}

export interface ShownFile {
  name: string;
  contentHash: string;
  /** If its content is offered: its place among the files of the entry, and its size. */
  content: { place: number; size: number } | null;
}

/** For each address: null where there is no such page, it has ended, or it does not show this. */
export interface ShownPages {
  page(address: PageAddress, after: string | undefined): Promise<ShownPage | null>;
  proof(address: PageAddress, ref: string): Promise<Proof | null>;
  /** RFC 8785 form that was hashed. */
  document(address: PageAddress, ref: string): Promise<string | null>;
  signoffProof(address: PageAddress, ref: string, number: number): Promise<Proof | null>;
  signoffDocument(address: PageAddress, ref: string, number: number): Promise<string | null>;
  file(address: PageAddress, ref: string, place: number): Promise<FileContent | null>;
}

export interface ShownPagesDeps {
  db: Db;
  makeProof: Proofs['make'];
  fileContents: FileContents;
}

const entriesOfPage = 20;
/** Larger documents are not read to show their data and files; they can be downloaded whole. */
const mostDocumentBytes = 64 * 1024;

export function createShownPages({ db, makeProof, fileContents }: ShownPagesDeps): ShownPages {
  /** An entry of the page, if the page shows this of entries. */
  async function find(address: PageAddress, ref: string, field: EntryField) {
    const page = await findPage(db, address);
    const chosen = page?.choices.entries;
    if (!page || !chosen?.show.includes(field)) return null;
    const maintenanceId = entryIdOf(page.entryKey, ref);
    if (maintenanceId === null || !(await isChosen(db, page, { chosen, maintenanceId }))) return null;
    const { workspaceId, assetId } = page;
    const whole = await findMaintenance(db, { workspaceId, assetId, maintenanceId });
    return whole && { page, chosen, whole, key: { workspaceId, assetId, maintenanceId } };
  }

  async function findOfSignoff(address: PageAddress, ref: string, number: number) {
    const found = await find(address, ref, 'documents');
    const signoff = found && (await findSignoff(db, { ...found.key, number }));
    return found && signoff && { ...found, ...signoff };
  }

  return {
    async page(address, after) {
      const page = await findPage(db, address);
      if (!page) return null;
      const chosen = page.choices.entries;
      const last = after === undefined ? undefined : entryIdOf(page.entryKey, after);
      if (last === null) return null;
      const asset = await findAsset(db, page);
      return {
        name: page.choices.asset.includes('name') ? asset.name : null,
        facts: await factsOf(db, page, asset),
        until: page.until,
        entries: chosen && (await entriesOf(db, page, { chosen, after: last })),
      };
    },

    async proof(address, ref) {
      const found = await find(address, ref, 'proof');
      if (!found) return null;
      const { whole, chosen, key } = found;
      const { maintenanceHash: digest } = whole.maintenance;
      // With the salt, somebody could confirm a guess of what is not shown.
      const salt = chosen.show.includes('documents') ? hexOf(whole.salt) : null;
      return makeProof({
        ...{ workspaceId: key.workspaceId, kind: 'maintenance', subjectId: key.maintenanceId, version: 1 },
        content: { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt },
      });
    },

    async document(address, ref) {
      return (await find(address, ref, 'documents'))?.whole.entry ?? null;
    },

    async signoffProof(address, ref, number) {
      const found = await findOfSignoff(address, ref, number);
      if (!found) return null;
      const { signoff, salt, key } = found;
      return makeProof({
        ...{ workspaceId: key.workspaceId, kind: 'signoff', subjectId: key.maintenanceId, version: number },
        content: {
          ...{
            algorithm: 'sha-256',
            digest: signoff.signoffHash,
            canonicalization: 'jcs',
            salt: hexOf(salt),
          },
        },
      });
    },

    async signoffDocument(address, ref, number) {
      return (await findOfSignoff(address, ref, number))?.document ?? null;
    },

    async file(address, ref, place) {
      const found = await find(address, ref, 'fileContents');
      const attached = found && filesOf(found.whole)[place - 1];
      if (!attached) return null;
      const { page } = found;
      const kept = (await readFiles(db, page, [attached])).get(fileKey(attached));
      if (!kept || kept.size === null) return null;
      return fileContents.find(page.workspaceId, attached.fileId, attached.version);
    },
  };
}

async function factsOf(db: Db, page: OpenPage, asset: Asset): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (const field of page.choices.asset) {
    const fact = await assetFacts[field]?.(asset, { db, page });
    if (fact) facts.push(fact);
  }
  return facts;
}

const assetFacts: Record<
  AssetField,
  (asset: Asset, more: { db: Db; page: OpenPage }) => Promise<Fact | null> | Fact | null
> = {
  // The heading of the page.
  name: () => null,
  assetId: ({ assetId }) => ['Id', assetId],
  serialNumber: ({ serialNumber }) => given('Serial number', serialNumber),
  partNumber: ({ partNumber }) => given('Part number', partNumber),
  usage: ({ usage: { hours, cycles } }) => [
    'Usage',
    `${hours.toLocaleString('en')} hours, ${cycles.toLocaleString('en')} cycles`,
  ],
  state: async (_, { db, page }) => [
    'State',
    (await isRetired(db, page)) ? 'Retired: it has reached the end of its life' : 'In service',
  ],
  installedIn: async ({ parentAssetId }, { db, page }) => {
    if (parentAssetId === null) return ['Installed in', 'Nothing'];
    const parent = await findAsset(db, { workspaceId: page.workspaceId, assetId: parentAssetId });
    // Somebody else's asset is not this owner's to name.
    return ['Installed in', parent.vaultId === page.vaultId ? parent.name : 'An asset of another owner'];
  },
  owner: ({ vaultAddress }) => ['Owner', vaultAddress],
  organisation: async (_, { db, page }) => ['Published by', (await findWorkspace(db, page.workspaceId)).name],
};

function given(label: string, value: string): Fact | null {
  return value === '' ? null : [label, value];
}

async function entriesOf(
  db: Db,
  page: OpenPage,
  { chosen, after }: { chosen: EntryChoices; after: string | undefined },
) {
  const found = await listChosen(db, page, { chosen, after, limit: entriesOfPage + 1 });
  const listed = found.slice(0, entriesOfPage);
  const shows = new Set(chosen.show);
  const documents =
    shows.has('data') || shows.has('files')
      ? await readDocuments(db, page.workspaceId, {
          ids: listed.map(({ maintenanceId }) => maintenanceId),
          mostBytes: mostDocumentBytes,
        })
      : new Map<string, string>();
  const items: ShownEntry[] = [];
  for (const entry of listed) {
    const text = documents.get(entry.maintenanceId);
    items.push(await shownEntry(db, page, { entry, shows, document: text ? JSON.parse(text) : null }));
  }
  return { items, next: found.length > entriesOfPage ? (items.at(-1)?.ref ?? null) : null };
}

async function shownEntry(
  db: Db,
  page: OpenPage,
  input: { entry: Maintenance; shows: Set<EntryField>; document: MaintenanceEntry | null },
): Promise<ShownEntry> {
  const { entry, shows, document } = input;
  const facts: Fact[] = [];
  if (shows.has('performedAt')) facts.push(['Done', dateAndTime(entry.performedAt)]);
  if (shows.has('recordedAt')) facts.push(['Recorded', dateAndTime(entry.recordedAt)]);
  if (shows.has('workers')) facts.push(['By', entry.workerName]);
  if (shows.has('data') && document) {
    for (const [name, value] of Object.entries(document.data)) {
      facts.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  }
  const isSealed = entry.anchor !== null;
  const whole = shows.has('documents');
  return {
    ref: entryRef(page.entryKey, entry.maintenanceId),
    type: shows.has('type') ? entry.type : null,
    summary: shows.has('summary') ? entry.summary : null,
    facts,
    corrected: entry.supersededBy !== null,
    release: shows.has('release') ? releaseOf(entry) : null,
    signoffs: shows.has('signoffs')
      ? entry.signoffs.map((signoff) => ({
          number: signoff.number,
          text: signoffInWords(signoff, shows),
          sealed: whole && signoff.anchor !== null,
        }))
      : [],
    files: shows.has('files') && document ? await shownFiles(db, page, { files: document.files, shows }) : [],
    check: shows.has('proof')
      ? { sealedAt: isSealed ? (entry.anchor?.anchoredAt ?? null) : null, whole }
      : null,
  };
}

/** A correction ends a release, whether or not it is certified itself. */
function releaseOf({ signoffs, supersededBy }: Maintenance): ShownEntry['release'] {
  if (!signoffs.some(({ role }) => role === 'certified')) return 'none';
  return supersededBy === null ? 'in force' : 'withdrawn';
}

function signoffInWords(
  { role, workerName, licence, signedAt, signedWith }: Maintenance['signoffs'][number],
  shows: Set<EntryField>,
): string {
  const who = shows.has('workers') ? ` by ${workerName}` : '';
  const how = `, ${signedInWords[signedWith]}`;
  const licensed =
    shows.has('licences') && licence
      ? `, licence ${licence.number} of ${licence.authority} (${licence.scope})`
      : '';
  return `${roleWords[role]}${who} on ${dateAndTime(new Date(signedAt))}${how}${licensed}`;
}

const signedInWords = {
  passkey: 'signed with a passkey',
  'own-key': 'signed with a key that the worker holds',
  'held-key': 'signed with a key that the service holds',
} as const;
const roleWords = { performed: 'Performed', inspected: 'Inspected', certified: 'Certified' } as const;

async function shownFiles(
  db: Db,
  page: OpenPage,
  { files, shows }: { files: AttachedFile[]; shows: Set<EntryField> },
): Promise<ShownFile[]> {
  const known = await readFiles(db, page, files);
  return files.flatMap((file, index) => {
    const { erased = true, size = null } = known.get(fileKey(file)) ?? {};
    if (erased) return [];
    const offered = shows.has('fileContents') && size !== null;
    const { name, contentHash } = file;
    return [{ name, contentHash, content: offered ? { place: index + 1, size } : null }];
  });
}

function filesOf({ entry }: WholeMaintenance): AttachedFile[] {
  return (JSON.parse(entry) as MaintenanceEntry).files;
}

function hexOf(bytes: Buffer): `0x${string}` {
  return `0x${bytes.toString('hex')}`;
}
