/** Who is asking: the workspace, the actor for the audit log, and what that actor may do. */
import type { OwnLimits } from './budgets.ts';

const resources = [
  'vaults',
  'files',
  'records',
  'assets',
  'workers',
  'webhooks',
  'events',
  'keys',
  'audit',
] as const;

export type Scope = `${(typeof resources)[number]}:${'read' | 'write'}`;

export const scopes: readonly Scope[] = resources.flatMap((name): Scope[] => [
  `${name}:read`,
  `${name}:write`,
]);

export interface Actor {
  kind: 'api_key' | 'user' | 'command' | 'system';
  id: string;
}

/** What a member of a workspace is, from the least to the most. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Somebody who is signed in. */
export interface Person {
  userId: string;
  sessionId: string;
  role: Role;
}

export interface Caller {
  workspaceId: string;
  actor: Actor;
  /** Empty: everything. */
  scopes: readonly Scope[];
  requestId: string | null;
  /** When the caller's own right to act ends; null or absent: never. */
  expiresAt?: Date | null;
  /** What differs for the workspace from the limits of the settings; absent: nothing. */
  limits?: OwnLimits;
  /** Absent: a key or a command, and nobody's session. */
  person?: Person;
}

export function may(caller: Caller, scope: Scope): boolean {
  return caller.scopes.length === 0 || caller.scopes.includes(scope);
}

/** Whether a role is this one or a higher one. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
