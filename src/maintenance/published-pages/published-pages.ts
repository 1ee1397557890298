/**
 * Pages of assets for outsiders: the owner publishes one with what it shows, until a moment, and may revoke it. The link is
 * the secret, of which only the hash is stored; a GS1 Digital Link is found by whoever knows its numbers.
 */
import { randomBytes } from 'node:crypto';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import { type Caller, may, type Scope } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { type AssetKey, holdAsset } from '../assets/assets.store.ts';
import { type Choices, type GivenChoices, readChoices } from './choices.ts';
import { type GivenLink, linkIn, pathOfLink, readDigitalLink } from './digital-link.ts';
import {
  countEntries,
  countPages,
  deletePage,
  insertPage,
  listPages,
  type PublishedPage,
  removeEnded,
} from './published-pages.store.ts';

export interface NewPublication extends GivenChoices {
  assetId: string;
  until: Date;
  digitalLink?: GivenLink | undefined;
}

export interface PublishedPages {
  /** `token` is told only now. */
  publish(caller: Caller, input: NewPublication): Promise<PublishedPage & { token: string }>;
  /** Newest first, without those that have ended. */
  list(key: AssetKey, page: { before: string | undefined; limit: number }): Promise<PublishedPage[]>;
  revoke(caller: Caller, page: { assetId: string; id: string }): Promise<void>;
}

/** Open ones of an asset. */
export const mostPages = 50;

export function createPublishedPages(db: Db): PublishedPages {
  return {
    async publish(caller, { assetId, until, digitalLink, ...given }) {
      const choices = readChoices(given);
      const link = digitalLink ? linkIn(caller.workspaceId, readDigitalLink(digitalLink)) : null;
      requireScopes(caller, choices);
      if (until <= new Date()) {
        const message = `until must be in the future, but ${until.toISOString()} is not.`;
        throw new AppError('invalid_request', message);
      }
      const key = { workspaceId: caller.workspaceId, assetId };
      const token = randomBytes(24).toString('base64url');
      try {
        const page = await db.transaction().execute(async (db) => {
          // The owner stays the owner until this is committed.
          const { vault } = await holdAsset(db, key);
          await removeEnded(db, key, link);
          await requireRoom(db, key);
          await requireEntries(db, key, choices);
          const createdAt = new Date();
          const page = {
            ...{ ...key, id: newId('pag'), vaultId: vault.id, digitalLink: link, choices, until, createdAt },
          };
          await insertPage(db, { ...page, token, entryKey: randomBytes(32) });
          const at = until.toISOString();
          await insertAll(db, [
            auditWrite(caller, {
              action: 'asset.publish_page',
              targetId: assetId,
              details: { pageId: page.id, until: at, digitalLink: link, ...summaryOf(choices) },
            }),
            eventWrite({
              ...{ workspaceId: key.workspaceId, type: 'asset.page.published', at: createdAt },
              data: { asset_id: assetId, page_id: page.id, until: at },
            }),
          ]);
          return page;
        });
        return { ...page, token };
      } catch (error) {
        if (!violates(error, 'published_pages_digital_link_key')) throw error;
        throw new AppError(
          'conflict',
          `Another published page has the address ${pathOfLink(link ?? '')}. Revoke it first, or publish this one without digitalLink.`,
          { cause: error },
        );
      }
    },

    list: (key, page) => listPages(db, key, page),

    revoke: (caller, { assetId, id }) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        await holdAsset(db, { workspaceId, assetId });
        if (!(await deletePage(db, { workspaceId, assetId, id }))) {
          throw new AppError('resource_not_found', `The asset ${assetId} has no published page ${id}.`);
        }
        const at = new Date();
        await insertAll(db, [
          auditWrite(caller, { action: 'asset.revoke_page', targetId: assetId, details: { pageId: id } }),
          eventWrite({
            ...{ workspaceId, type: 'asset.page.ended', at },
            data: { asset_id: assetId, page_id: id, cause: 'revoked', ended_at: at.toISOString() },
          }),
        ]);
      }),
  };
}

/** Or a key that may only write could read by its own pages. */
function requireScopes(caller: Caller, { entries }: Choices): void {
  const needed: Scope[] = [
    'assets:read',
    ...(entries?.show.includes('fileContents') ? (['files:read'] as const) : []),
  ];
  for (const scope of needed) {
    if (may(caller, scope)) continue;
    throw new AppError(
      'forbidden',
      `The page would show what needs the scope ${scope}, which this caller lacks.`,
    );
  }
}

async function requireRoom(db: Db, key: AssetKey): Promise<void> {
  if ((await countPages(db, key)) < mostPages) return;
  throw new AppError(
    'conflict',
    `The asset ${key.assetId} has ${mostPages} published pages. Revoke one of them first.`,
  );
}

async function requireEntries(db: Db, key: AssetKey, { entries }: Choices): Promise<void> {
  const ids = entries?.maintenanceIds;
  if (!ids || (await countEntries(db, key, ids)) === ids.length) return;
  throw new AppError(
    'resource_not_found',
    `entries.maintenanceIds names an entry that the asset ${key.assetId} does not have.`,
  );
}

/** For the audit log, where a long list of ids has no place. */
function summaryOf({ asset, entries }: Choices) {
  if (!entries) return { shown: asset, entries: null };
  const { types, maintenanceIds, show } = entries;
  return { shown: asset, entries: { types, maintenanceIds: maintenanceIds?.length ?? null, shown: show } };
}
