/** Creating an API key as a step that can need a second person: a key that can do more than read is wide. */
import type { Scope } from '../../runtime/caller.ts';
import { onBehalf } from '../../runtime/caller.ts';
import type { DefineStep, TakeStep } from '../approvals/steps.ts';
import type { ApiKey, ApiKeys, MadeKey } from './api-keys.ts';

/** As JSON. */
export interface KeyInput {
  name: string;
  scopes: Scope[];
  expiresAt: string | null;
}

/** Without scopes a key has nearly all of them. */
function isWide(scopes: Scope[]): boolean {
  return scopes.length === 0 || scopes.some((scope) => !scope.endsWith(':read'));
}

export function createKeyStep(
  define: DefineStep,
  apiKeys: Pick<ApiKeys, 'createIn'>,
): TakeStep<KeyInput, MadeKey> {
  return define<KeyInput, MadeKey>('api_key.create', async (db, caller, { name, scopes, expiresAt }) => {
    const input = { name, scopes, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
    const made = await apiKeys.createIn(db, caller, input);
    return {
      result: made,
      subjectId: null,
      effect: isWide(scopes) ? { name, scopes, expiresAt } : null,
      answer: { ...apiKeyJson(made.apiKey) },
      // The same as to grant it.
      ...(scopes.includes(onBehalf) && { role: 'admin' as const }),
      secret: made.key,
    };
  });
}

export function apiKeyJson({ createdAt, expiresAt, lastUsedAt, revokedAt, ...rest }: ApiKey) {
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
