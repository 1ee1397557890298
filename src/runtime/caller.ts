/** The caller of a request: workspace, actor for the audit log, and rights. */
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
  'approvals',
] as const;

export type Scope = `${(typeof resources)[number]}:${'read' | 'write'}` | typeof onBehalf;

/** To sign with the keys that the service holds. Nobody has it without being given it by name. */
export const onBehalf = 'signoffs:on-behalf';

export const scopes: readonly Scope[] = [
  ...resources.flatMap((name): Scope[] => [`${name}:read`, `${name}:write`]),
  onBehalf,
];

export interface Actor {
  kind: 'api_key' | 'user' | 'command' | 'system' | 'portal_link';
  id: string;
}

/** The roles of members, from the least rights to the most. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** A person who is signed in. */
export interface Person {
  userId: string;
  sessionId: string;
  role: Role;
  /** Whether the person has proved within the last minutes who they are. */
  isFresh: boolean;
  /** Whether a code, a passkey or the identity provider was used in this session. */
  hasSecondFactor: boolean;
  /** The workspace requires a second factor, and this session has none. */
  lacksSecondFactor: boolean;
}

export interface Caller {
  workspaceId: string;
  actor: Actor;
  /** Empty: all scopes, except the one that must be named. */
  scopes: readonly Scope[];
  requestId: string | null;
  /** When the caller's own rights expire; null or absent: never. */
  expiresAt?: Date | null;
  /** The limits that differ for this workspace from the settings; absent: none. */
  limits?: OwnLimits;
  /** Absent: the caller is a key or a command, without a session. */
  person?: Person;
}

export function may(caller: Caller, scope: Scope): boolean {
  return caller.scopes.includes(scope) || (caller.scopes.length === 0 && scope !== onBehalf);
}

/** Whether a role is the needed one or higher. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** How long a proof of who is there is fresh: signing in, or confirming with a passkey, a code or the password. */
export const freshMinutes = 10;
