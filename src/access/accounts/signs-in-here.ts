/**
 * Whether somebody signs in here, with a password, codes and passkeys, or the identity provider alone decides about them.
 * The table of accounts in docs/security.md says it in words. It is asked with every request, and not noted in the account:
 * so nothing that changes a role, or ends what the provider vouches for, has to remember it.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { AppError } from '../../runtime/errors.ts';
import { defaultSlug } from '../workspaces/workspaces.ts';

/** How people prove who they are. */
export const ways = ['password', 'code', 'passkey', 'provider'] as const;
export type Way = (typeof ways)[number];

/**
 * `user`: the id, or a column with it. Whichever provider the account is linked with: when that is replaced by another, or by
 * none, nobody whom it may have removed comes back.
 */
export function signsInHere(user: string | RawBuilder<string>): RawBuilder<boolean> {
  return sql<boolean>`not exists (
    select 1 from identities i where i.user_id = ${user} and (i.gone_at is not null or not exists (
      select 1 from members m join workspaces w on w.id = m.workspace_id
      where m.user_id = i.user_id and m.role = 'owner' and w.slug = ${defaultSlug})))`;
}

export async function doesSignInHere(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql<{ here: boolean }>`select ${signsInHere(userId)} as here`.execute(db);
  return rows[0]?.here === true;
}

/** Whether the last that a provider said of the person is that it does not vouch for them. */
export async function isGone(db: Db, userId: string): Promise<boolean> {
  const gone = await db
    .selectFrom('identities')
    .select('gone_at')
    .where('user_id', '=', userId)
    .where('gone_at', 'is not', null)
    .executeTakeFirst();
  return gone !== undefined;
}

/**
 * By what the person can prove who they are, now. A passkey of somebody who signs in at the provider only confirms. `issuer`:
 * of the provider that is configured; null: none.
 */
export async function findWays(db: Db, userId: string, issuer: string | null): Promise<Way[]> {
  const { rows } = await sql<Record<Way, boolean>>`
    select here and exists (select 1 from accounts a where a.user_id = u.id and a.provider_id = 'credential'
                            and a.password is not null) as password,
           here and u.two_factor_enabled as code,
           exists (select 1 from passkeys k where k.user_id = u.id) as passkey,
           exists (select 1 from identities i where i.user_id = u.id and ${isOf(issuer)}) as provider
    from users u, lateral (select ${signsInHere(sql`u.id`)} as here) as state
    where u.id = ${userId}`.execute(db);
  return ways.filter((way) => rows[0]?.[way]);
}

export function leftToProvider(): AppError {
  return new AppError('forbidden', 'Your account belongs to the identity provider: sign in with it.');
}

/** The same issuer, with or without a slash at its end: providers and settings write it in either way. */
export function isSameIssuer(one: string, other: string | null): boolean {
  return other !== null && withoutSlash(one) === withoutSlash(other);
}

/** Whether an identity `i` is of this provider. */
export function isOf(issuer: string | null): RawBuilder<boolean> {
  return sql<boolean>`rtrim(i.issuer, '/') = ${issuer === null ? '' : withoutSlash(issuer)}`;
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/+$/, '');
}
