/** Who is asking: the workspace, the actor for the audit log, and what that actor may do. */

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
  kind: 'api_key' | 'command' | 'system';
  id: string;
}

export interface Caller {
  workspaceId: string;
  actor: Actor;
  /** Empty: everything. */
  scopes: readonly Scope[];
  requestId: string | null;
  /** When the caller's own right to act ends; null or absent: never. */
  expiresAt?: Date | null;
}

export function may(caller: Caller, scope: Scope): boolean {
  return caller.scopes.length === 0 || caller.scopes.includes(scope);
}
