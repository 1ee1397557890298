/** Holdfast's side of the webhook rows: endpoints at the receiver, a backlog that falls due, and a look into the log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventWrite } from '../src/events/events.ts';
import { apiBase } from '../src/http/api/api.ts';
import type { BacklogEvent, Target } from './backlog.ts';
import { holdfastDatabase, type Postgres } from './postgres.ts';
import { keyHeaders, type Service } from './service.ts';
import { ours } from './statements.ts';

const endpoints = `${apiBase}/platform/webhooks/endpoints`;

export interface SavedTarget extends Target {
  id: string;
}

/** One endpoint for each path. */
export async function saveTargets(
  service: Service,
  { origin, paths, eventTypes }: { origin: string; paths: string[]; eventTypes: string[] },
): Promise<SavedTarget[]> {
  const saveOne = async (path: string): Promise<SavedTarget> => {
    const answer = await fetch(service.url + endpoints, {
      method: 'POST',
      headers: { ...keyHeaders(service), 'content-type': 'application/json' },
      body: JSON.stringify({ url: origin + path, eventTypes }),
    });
    if (answer.status !== 201) throw new Error(`no endpoint was saved: ${await answer.text()}`);
    const { id, secret } = (await answer.json()) as { id: string; secret: string };
    return { id, path, secret };
  };
  return Promise.all(paths.map(saveOne));
}

/** So that later rows make no deliveries. */
export async function removeTargets(service: Service, targets: SavedTarget[]): Promise<void> {
  for (const { id } of targets) {
    const answer = await fetch(`${service.url}${endpoints}/${id}`, {
      method: 'DELETE',
      headers: keyHeaders(service),
    });
    if (answer.status !== 204) throw new Error(`an endpoint was not removed: ${await answer.text()}`);
  }
}

/** Events as a vault makes them. */
export function makeEvents(workspaceId: string, { count, at }: { count: number; at: Date }): BacklogEvent[] {
  return Array.from({ length: count }, () => {
    const { row } = eventWrite({
      workspaceId,
      type: backlogType,
      at,
      data: {
        vault_id: 'vlt_01M7EG19SH3FMASFKSTVVAKF4G',
        address: '0xf9527293fbD3f97f210c0F959b460F601C4042F8',
        deactivated_at: at.toISOString(),
      },
    }) as { row: { id: string; envelope: string } };
    return { id: row.id, envelope: row.envelope };
  });
}

export const backlogType = 'vault.deactivated';

export async function workspaceOf(postgres: Postgres): Promise<string> {
  const [row] = await postgres.query<{ id: string }>(
    holdfastDatabase,
    "select id from workspaces where slug = 'default'",
  );
  if (!row) throw new Error('there is no default workspace');
  return row.id;
}

/** Writes events and, by the service's own trigger, their deliveries, in one commit: all of it falls due at once. */
export async function commitBacklog(
  postgres: Postgres,
  { workspaceId, events, at }: { workspaceId: string; events: BacklogEvent[]; at: Date },
): Promise<void> {
  await postgres.query(
    holdfastDatabase,
    `insert ${ours} into events (workspace_id, id, type, envelope, created_at)
     select $1, e.id, $2, e.envelope, $3 from json_to_recordset($4) as e (id text, envelope text)`,
    [workspaceId, backlogType, at, JSON.stringify(events)],
  );
}

/** Waits until nothing of the backlog is open; throws unless each delivery succeeded with its first attempt. */
export async function refuseUnlogged(
  postgres: Postgres,
  { at, deliveries }: { at: Date; deliveries: number },
): Promise<void> {
  for (const deadline = Date.now() + longestLogMs; ; ) {
    const rows = await postgres.query<{ status: string; attempts: number; count: number }>(
      holdfastDatabase,
      `select ${ours} status, attempt_count as attempts, count(*)::int as count
       from webhook_deliveries where created_at = $1 group by 1, 2`,
      [at],
    );
    const [only] = rows;
    const { status, attempts, count } = only ?? {};
    if (rows.length === 1 && status === 'succeeded' && attempts === 1 && count === deliveries) return;
    if (Date.now() > deadline)
      throw new Error(`the log does not show ${deliveries} deliveries as succeeded: ${JSON.stringify(rows)}`);
    await sleep(100);
  }
}

const longestLogMs = 10_000;
