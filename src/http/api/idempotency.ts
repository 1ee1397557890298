/**
 * Idempotency-Key: the answer of a creating request is committed together with its work, so that a repeated request gets
 * the same answer and does nothing. Nothing is reserved beforehand: if two requests race, the second commit violates the
 * primary key of the answers, rolls back completely, and gets the first one's answer. So does a request that is refused
 * because of what the first one has done meanwhile.
 */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { Db } from '../../db/database.ts';
import { isDuplicate, isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import type { Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { AppError, errorKinds } from '../../runtime/errors.ts';
import { callerOf } from '../admission/authentication.ts';
import { pathOf, type Rescue } from './error-reply.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts an Idempotency-Key; `own`: the answer has a secret, and is repeated only to the API key that asked first. */
    idempotent?: boolean | 'own';
  }
  interface FastifyRequest {
    idempotency: Slot | null;
  }
}

/** The key under which the answer of a request is stored. */
interface Slot {
  workspaceId: string;
  method: string;
  path: string;
  key: string;
  fingerprint: Buffer;
}

interface AnswerRow {
  fingerprint: Buffer;
  status: number;
  body: string | null;
  created_at: Date;
}

export interface Answer<Body> {
  /** Builds the answer and returns the rows to commit with the work; none when the request has no key. */
  remember(body: Body): Write[];
  send(): FastifyReply;
}

export interface Idempotency {
  /**
   * For routes that read the body themselves: marks the key as running first, so that no second request on this node
   * reads the same body in vain, and tells whether an answer is stored. The payload is compared later. `none`: no key.
   */
  takeKey(request: FastifyRequest): Promise<'none' | 'new' | 'answered'>;
  /** Whether an answer is stored for the request's key: then nothing that was accepted before may be refused. */
  isAnswered(request: FastifyRequest): Promise<boolean>;
  /** `secret`: the answer contains a secret, so its stored copy is encrypted. */
  answer<Body>(request: FastifyRequest, reply: FastifyReply, options?: { secret: boolean }): Answer<Body>;
  rescue: Rescue;
}

const keptForMs = 24 * 60 * 60 * 1000;
const secretPurpose = 'idempotent-answer';

export interface IdempotencyDeps {
  db: Db;
  pool: Pool;
  keyring: Keyring;
}

export function useIdempotency(app: FastifyInstance, { db, pool, keyring }: IdempotencyDeps): Idempotency {
  /** Requests running on this node, by workspace, route and key; null while the payload is still being read. */
  const running = new Map<string, Buffer | null>();

  const find = gather<Slot, AnswerRow | null>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(slots) {
      const { rows } = await pool.query<AnswerRow & { place: number }>({
        name: 'idempotent-answers',
        text: `select wanted.place, a.fingerprint, a.status, a.body, a.created_at
               from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
                 as wanted (workspace_id, method, path, key, place)
               cross join lateral (
                 select * from idempotent_answers
                 where workspace_id = wanted.workspace_id and method = wanted.method
                   and path = wanted.path and key = wanted.key limit 1
               ) as a`,
        values: [
          slots.map(({ workspaceId }) => workspaceId),
          slots.map(({ method }) => method),
          slots.map(({ path }) => path),
          slots.map(({ key }) => key),
        ],
      });
      const found: (AnswerRow | null)[] = slots.map(() => null);
      for (const row of rows) found[row.place - 1] = row;
      return found;
    },
  });

  app.decorateRequest('idempotency', null);
  app.addHook('onRoute', (route) => {
    if (!route.config?.idempotent) return;
    route.preHandler = [...[route.preHandler ?? []].flat(), preHandler];
    route.onSend = [...[route.onSend ?? []].flat(), onSend];
  });

  async function preHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const key = readKey(request);
    if (key === null) return;
    const fingerprint = fingerprintOf(request);
    const slot = request.idempotency ?? slotOf(request, key);
    slot.fingerprint = fingerprint;
    if (!request.idempotency) refuseWhileRunning(slot);
    running.set(slotName(slot), fingerprint);
    request.idempotency = slot;
    return (await sendKept(slot, reply)) ? reply : undefined;
  }

  function refuseWhileRunning(slot: Slot): void {
    const first = running.get(slotName(slot));
    if (first === undefined) return;
    if (first !== null && slot.fingerprint.length > 0) refuseOtherPayload(slot, first);
    throw new AppError(
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still running. Send the same request again in a moment.',
      { retryAfterSeconds: 1 },
    );
  }

  async function onSend(request: FastifyRequest): Promise<void> {
    if (request.idempotency) running.delete(slotName(request.idempotency));
  }

  /** Sends the stored answer; false when there is none. */
  async function sendKept(slot: Slot, reply: FastifyReply): Promise<boolean> {
    const row = await find(slot);
    if (!row) return false;
    if (isOver(row)) {
      await forgetOldAnswers(db);
      return false;
    }
    refuseOtherPayload(slot, row.fingerprint);
    const body = row.body ?? (await keyring.open(secretRef(slot)))?.toString();
    if (body === undefined) throw new Error('the sealed answer of an idempotent request is missing');
    reply
      .code(row.status)
      .header('idempotency-replayed', 'true')
      .type('application/json; charset=utf-8')
      .send(body);
    return true;
  }

  async function hasAnswer(slot: Slot): Promise<boolean> {
    const row = await find(slot);
    return row !== null && !isOver(row);
  }

  return {
    async takeKey(request) {
      const key = readKey(request);
      if (key === null) return 'none';
      const slot = slotOf(request, key);
      refuseWhileRunning(slot);
      running.set(slotName(slot), null);
      request.idempotency = slot;
      return (await hasAnswer(slot)) ? 'answered' : 'new';
    },
    async isAnswered(request) {
      const key = readKey(request);
      return key !== null && hasAnswer(slotOf(request, key));
    },
    answer<Body>(request: FastifyRequest, reply: FastifyReply, { secret } = { secret: false }): Answer<Body> {
      let text: string | null = null;
      return {
        remember(body) {
          text = String(reply.serialize(body));
          const slot = request.idempotency;
          if (!slot) return [];
          const sealed = secret ? [keyring.seal(secretRef(slot), Buffer.from(text))] : [];
          return [...sealed, answerWrite(slot, reply.statusCode, secret ? null : text)];
        },
        send() {
          return reply.type('application/json; charset=utf-8').send(text);
        },
      };
    },
    async rescue(error, request, reply) {
      if (!request.idempotency || !mayBeAnswered(request.idempotency, error)) return false;
      return sendKept(request.idempotency, reply);
    },
  };
}

/** Whether the error may be caused by the same request on another node, answered since this one looked. */
function mayBeAnswered({ fingerprint }: Slot, error: unknown): boolean {
  // A payload that was not read cannot be compared.
  if (fingerprint.length === 0) return false;
  if (!(error instanceof AppError)) return isDuplicate(error);
  return errorKinds[error.code].status < 500 && !error.code.startsWith('idempotency_');
}

function isOver({ created_at }: AnswerRow): boolean {
  return created_at.getTime() < Date.now() - keptForMs;
}

/** Deletes expired answers; returns how many. */
export async function forgetOldAnswers(db: Db): Promise<number> {
  const before = new Date(Date.now() - keptForMs);
  const { numDeletedRows } = await db
    .deleteFrom('idempotent_answers')
    .where('created_at', '<', before)
    .executeTakeFirst();
  await db
    .deleteFrom('secrets')
    .where('purpose', '=', secretPurpose)
    .where('created_at', '<', before)
    .execute();
  return Number(numDeletedRows);
}

/** Without the fingerprint, which needs the body. */
function slotOf(request: FastifyRequest, key: string): Slot {
  return {
    workspaceId: callerOf(request).workspaceId,
    method: request.method,
    path: pathOf(request).replace(/\/$/, ''),
    key,
    fingerprint: noFingerprint,
  };
}

const noFingerprint = Buffer.alloc(0);

function fingerprintOf(request: FastifyRequest): Buffer {
  const own = request.routeOptions.config.idempotent === 'own';
  const asked = canonicalize([request.query, request.body, own ? callerOf(request).actor.id : null]) ?? '';
  // One-shot `hash` on text: a createHash object costs more than the hashing.
  return Buffer.from(hash('sha256', asked), 'hex');
}

function readKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  // The draft defines it as a quoted string; most clients send it without quotes.
  const key = String(header).replace(/^"(.*)"$/, '$1');
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new AppError(
      'invalid_request',
      'Idempotency-Key must have 1 to 255 printable characters without spaces.',
    );
  }
  return key;
}

function refuseOtherPayload(slot: Slot, first: Buffer): void {
  if (first.equals(slot.fingerprint)) return;
  throw new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was already used with another payload. Use a new key.',
  );
}

function answerWrite(slot: Slot, status: number, body: string | null): Write {
  return {
    table: 'idempotent_answers',
    row: {
      workspace_id: slot.workspaceId,
      method: slot.method,
      path: slot.path,
      key: slot.key,
      fingerprint: slot.fingerprint,
      status,
      body,
      created_at: new Date(),
    },
  };
}

function slotName({ workspaceId, method, path, key }: Slot): string {
  return JSON.stringify([workspaceId, method, path, key]);
}

function secretRef(slot: Slot): { workspaceId: string; purpose: string; id: string } {
  return {
    workspaceId: slot.workspaceId,
    purpose: secretPurpose,
    id: hash('sha256', slotName(slot)),
  };
}
