/** Portal links: each shows one endpoint and its deliveries to somebody without an account, until it expires or is revoked. */
import { randomBytes } from 'node:crypto';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { type Caller, may } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { findEndpoint } from '../endpoints/endpoints.store.ts';
import {
  countOpen,
  deleteLink,
  findHeld,
  type HeldLink,
  linksOf,
  linkWrite,
  type PortalLink,
  type PortalRights,
} from './portal-links.store.ts';

export interface NewPortalLink extends PortalRights {
  endpointId: string;
  description: string;
  /** null: the usual days. */
  validDays: number | null;
}

export interface MadePortalLink extends PortalLink {
  /** Holds the token, and cannot be shown again. */
  link: string;
}

export interface PortalLinks {
  /** `also`: rows to commit with the link. */
  create(caller: Caller, input: NewPortalLink, also: (made: MadePortalLink) => Write[]): Promise<void>;
  /** Newest first. */
  list(
    owner: { workspaceId: string; endpointId: string },
    page: { before: string | undefined; limit: number },
  ): Promise<PortalLink[]>;
  revoke(caller: Caller, endpointId: string, id: string): Promise<void>;
  /** Throws when the link does not exist, was revoked or has expired. */
  find(token: string): Promise<HeldLink>;
}

export interface PortalLinksDeps {
  db: Db;
  publicUrl(): string;
}

export const portalLinkLimits = { days: 90, usualDays: 7, perEndpoint: 20, descriptionLength: 200 };
const dayMs = 24 * 60 * 60 * 1000;
const tokenStart = 'portal_';

export function createPortalLinks({ db, publicUrl }: PortalLinksDeps): PortalLinks {
  return {
    async create(caller, { endpointId, validDays, ...given }, also) {
      // Or a key that may only write could read by its own links.
      if (!may(caller, 'webhooks:read')) {
        throw new AppError(
          'forbidden',
          'The link shows the deliveries of the endpoint, so this also needs the scope webhooks:read.',
        );
      }
      const { workspaceId } = caller;
      const owner = { workspaceId, endpointId };
      await db.transaction().execute(async (db) => {
        await findEndpoint(db, { workspaceId, id: endpointId, lock: true });
        const { open, now } = await countOpen(db, owner);
        if (open >= portalLinkLimits.perEndpoint) {
          throw new AppError(
            'conflict',
            `The endpoint has ${open} portal links, and more are not possible. Revoke one first.`,
          );
        }
        const token = tokenStart + randomBytes(24).toString('base64url');
        const link: PortalLink = {
          id: newId('ptl'),
          ...given,
          createdAt: now,
          expiresAt: endOf(validDays, { now, caller }),
          lastUsedAt: null,
        };
        const { description, mayChangeUrl, mayManageSecret } = link;
        const details = {
          ...{ portalLinkId: link.id, description, mayChangeUrl, mayManageSecret },
          expiresAt: link.expiresAt.toISOString(),
        };
        await insertAll(db, [
          linkWrite(owner, token, link),
          auditWrite(caller, {
            action: 'webhook_endpoint.create_portal_link',
            targetId: endpointId,
            details,
          }),
          ...also({ ...link, link: `${publicUrl()}/portal/${token}` }),
        ]);
      });
    },

    async list(owner, page) {
      await findEndpoint(db, { workspaceId: owner.workspaceId, id: owner.endpointId });
      return linksOf(db, owner, page);
    },

    async revoke(caller, endpointId, id) {
      const { workspaceId } = caller;
      await db.transaction().execute(async (db) => {
        await findEndpoint(db, { workspaceId, id: endpointId });
        if (!(await deleteLink(db, { workspaceId, endpointId }, id))) {
          throw new AppError('resource_not_found', `There is no portal link ${id} of ${endpointId}.`);
        }
        const details = { portalLinkId: id };
        await insertAll(db, [
          auditWrite(caller, {
            action: 'webhook_endpoint.revoke_portal_link',
            targetId: endpointId,
            details,
          }),
        ]);
      });
    },

    async find(token) {
      const held = token.startsWith(tokenStart) ? await findHeld(db, token) : null;
      if (!held) {
        throw new AppError(
          'resource_not_found',
          'There is no such portal link, or it was revoked. Ask for a new one.',
        );
      }
      if (held.hasExpired) throw new AppError('conflict', 'This link has expired. Ask for a new one.');
      return held;
    },
  };
}

/** Not after the end of the key that makes it. */
function endOf(validDays: number | null, { now, caller }: { now: Date; caller: Caller }): Date {
  const wanted = new Date(now.getTime() + (validDays ?? portalLinkLimits.usualDays) * dayMs);
  const { expiresAt: end = null } = caller;
  if (end === null || wanted <= end) return wanted;
  if (validDays === null) return end;
  throw new AppError(
    'forbidden',
    `A key cannot make a link that outlives it, and this one expires at ${end.toISOString()}. Leave validDays out.`,
  );
}
