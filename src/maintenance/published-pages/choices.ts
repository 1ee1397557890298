/** What the owner of an asset chose to show on a page. What is not named here, or not chosen, is not shown. */
import { AppError } from '../../runtime/errors.ts';

export const assetFields = [
  'name',
  'assetId',
  'serialNumber',
  'partNumber',
  'usage',
  'state',
  'installedIn',
  'owner',
  'organisation',
] as const;
export type AssetField = (typeof assetFields)[number];

export const entryFields = [
  'type',
  'summary',
  'performedAt',
  'recordedAt',
  'workers',
  'data',
  'files',
  'fileContents',
  'release',
  'signoffs',
  'licences',
  'proof',
  'documents',
] as const;
export type EntryField = (typeof entryFields)[number];

export interface Choices {
  asset: AssetField[];
  /** Null: no entries. */
  entries: EntryChoices | null;
}

export interface EntryChoices {
  /** Null: of all types. */
  types: string[] | null;
  /** Null: all of these types. */
  maintenanceIds: string[] | null;
  show: EntryField[];
}

export interface GivenChoices {
  show: AssetField[];
  entries?: { types?: string[]; maintenanceIds?: string[]; show: EntryField[] } | undefined;
}

/** Throws invalid_request for choices that would show more than they say. */
export function readChoices({ show, entries }: GivenChoices): Choices {
  if (!entries) return { asset: ordered(assetFields, show), entries: null };
  const { types, maintenanceIds } = entries;
  if (types && maintenanceIds) {
    throw new AppError('invalid_request', 'entries has types or maintenanceIds, not both.');
  }
  for (const [field, shown] of discloses) requireChosen(entries.show, field, shown);
  return {
    asset: ordered(assetFields, show),
    entries: {
      types: types ? [...new Set(types.map((type) => type.trim().toLowerCase()))] : null,
      maintenanceIds: maintenanceIds ? [...new Set(maintenanceIds)] : null,
      show: ordered(entryFields, entries.show),
    },
  };
}

/** A document is shown as it was hashed, with all that it says. */
const discloses: [EntryField, EntryField[]][] = [
  [
    'documents',
    [
      ...(['type', 'summary', 'performedAt', 'recordedAt', 'workers', 'data', 'files'] as const),
      ...(['release', 'signoffs', 'licences', 'proof'] as const),
    ],
  ],
  ['fileContents', ['files']],
  ['licences', ['signoffs']],
];

function requireChosen(chosen: EntryField[], field: EntryField, shown: EntryField[]): void {
  if (!chosen.includes(field)) return;
  const missing = shown.filter((one) => !chosen.includes(one));
  if (missing.length === 0) return;
  throw new AppError(
    'invalid_request',
    `entries.show has ${field}, which also shows ${missing.join(', ')}. Choose these too, or leave ${field} out.`,
  );
}

function ordered<Field extends string>(all: readonly Field[], chosen: Field[]): Field[] {
  return all.filter((field) => chosen.includes(field));
}
