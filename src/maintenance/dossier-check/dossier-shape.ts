/** The shape of dossier.json, as far as the check uses it: a document of another shape is refused with the place. */
import {
  type Check,
  eachOf,
  exactly,
  integerUpTo,
  matching,
  nullOr,
  objectOf,
} from '../../proof/json-shape.ts';
import { type Dossier, dossierFormat } from './dossier-format.ts';

/** Throws with a readable message. */
export function requireDossier(document: unknown): Dossier {
  const [fault] = checkForm(document, '');
  if (fault) throw new Error(`${fault.path || 'it'} ${fault.message}`);
  return document as Dossier;
}

const any: Check = () => [];
const text = matching(/^/u, 'a text');
const count = integerUpTo(Number.MAX_SAFE_INTEGER);
const amount: Check = (value, path) =>
  typeof value === 'number' && value >= 0 ? [] : [{ path, message: 'is not a number of 0 or more' }];
const flag: Check = (value, path) =>
  typeof value === 'boolean' ? [] : [{ path, message: 'is neither true nor false' }];
const open = { open: true };
const vault = objectOf({ address: text, name: text }, open);
const many = { max: 10_000_000 };

const checkForm = objectOf(
  {
    format: exactly(dossierFormat),
    dossierId: text,
    madeAt: text,
    workspaceId: text,
    developmentEvidence: flag,
    asset: objectOf(
      {
        assetId: text,
        name: text,
        serialNumber: text,
        partNumber: text,
        metadata: any,
        usage: objectOf({ hours: amount, cycles: amount }, open),
        version: count,
        parentAssetId: nullOr(text),
      },
      open,
    ),
    owner: vault,
    owners: eachOf(objectOf({ vault, since: text }, open), many),
    installations: eachOf(
      objectOf({ parentAssetId: text, installedAt: text, removedAt: nullOr(text) }, open),
      many,
    ),
    counts: objectOf(
      {
        versions: count,
        entries: count,
        provenEntries: count,
        signoffs: count,
        provenSignoffs: count,
        certified: count,
      },
      open,
    ),
    attachmentsIncluded: flag,
    contents: eachOf(objectOf({ path: text, bytes: count, sha256: text }, open), many),
  },
  open,
);
