/**
 * Idempotency-Key: the answer of a creating request is committed together with its work, so that a repeated request gets
 * the same answer and does nothing. Nothing is reserved beforehand: the second commit of a key violates the primary key of
 * the answers, rolls back completely, and gets the first one's answer. So does a request that is refused
 * because of what the first one has done meanwhile.
 *
 * An answer is kept as its text, or in a few bytes from which its route makes the same text again (`remake`).
 */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type {
  DoneFuncWithErrOrRes,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
} from 'fastify';
import type { Pool } from 'pg';
import { encodeArray } from '../../db/arrays.ts';
import type { Db } from '../../db/database.ts';
import { isDuplicate, isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import type { Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { canonicalJsonOrNull } from '../../proof/canonical.ts';
import { AppError, errorKinds } from '../../runtime/errors.ts';
import { callerOf } from '../admission/authentication.ts';
import { pathOf, type Rescue } from './error-reply.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts an Idempotency-Key; `own`: the answer has a secret, and is repeated only to the API key that asked first. */
    idempotent?: boolean | 'own';
    /**
     * All that the handler changes is one commit, together with its answer. Then a used key shows when that commit is
     * refused, and need not be looked for before.
     */
    oneCommit?: boolean;
    remake?: Remake;
  }
  interface FastifyRequest {
    idempotency: Slot | null;
  }
}

/**
 * Makes the body of the first answer again from what was kept of it, and from the request, whose payload is that of the
 * first. Only from what never changes: the answer tells of the thing as it was created, to the byte.
 */
export type Remake = (request: FastifyRequest, made: Buffer) => unknown;

/** The key under which the answer of a request is stored. */
interface Slot {
  workspaceId: string;
  method: string;
  path: string;
  key: string;
  /** These four in one. */
  name: string;
  /** Of the name. */
  hash: Buffer;
  fingerprint: Buffer;
  /** The canonical texts of the body's members, from which the fingerprint was made. */
  members: Map<string, string> | null;
}

interface AnswerRow {
  fingerprint: Buffer;
  status: number;
  made: Buffer | null;
  body: string | null;
  created_at: Date;
}

export interface Answer<Body> {
  /**
   * Builds the answer and returns the rows to commit with the work; none when the request has no key. `made`: what the
   * `remake` of the route needs; the answer's text is not stored then.
   */
  remember(body: Body, made?: () => Buffer): Write[];
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
  /** The canonical JSON of a member of the body, if the payload was compared: what is to be hashed need not be made again. */
  canonicalMember(request: FastifyRequest, name: string): string | undefined;
  /** `secret`: the answer contains a secret, so its stored copy is encrypted. */
  answer<Body>(request: FastifyRequest, reply: FastifyReply, options?: { secret: boolean }): Answer<Body>;
  rescue: Rescue;
}

const keptForMs = 24 * 60 * 60 * 1000;
/** A refused commit costs those that share it a second one: after one, keys are looked for first for so long. */
const lookFirstMs = 1_000;
const secretPurpose = 'idempotent-answer';
/** A text that was just put together consists of all its pieces until it is sent; as bytes it is one. */
const longText = 16_384;

export interface IdempotencyDeps {
  db: Db;
  pool: Pool;
  keyring: Keyring;
}

export function useIdempotency(app: FastifyInstance, { db, pool, keyring }: IdempotencyDeps): Idempotency {
  /** Requests running on this node, by workspace, route and key; null while the payload is still being read. */
  const running = new Map<string, Buffer | null>();
  let lookFirstUntil = 0;

  const find = gather<Slot, AnswerRow | null>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(slots) {
      const { rows } = await pool.query<AnswerRow & { place: number }>({
        name: 'idempotent-answers',
        text: `select wanted.place, a.fingerprint, a.status, a.made, a.body, a.created_at
               from unnest($1::bytea[]) with ordinality as wanted (slot, place)
               cross join lateral (
                 select * from idempotent_answers where slot = wanted.slot limit 1
               ) as a`,
        values: [
          encodeArray(
            'bytea',
            slots.map(({ hash }) => hash),
          ),
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
    if (route.config.oneCommit) route.handler = handledAgainIfOver(route.handler);
    route.preHandler = [...[route.preHandler ?? []].flat(), preHandler];
    route.onSend = [...[route.onSend ?? []].flat(), onSend];
  });

  async function preHandler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const key = readKey(request);
    if (key === null) return;
    const slot = request.idempotency ?? slotOf(request, key);
    slot.members = canonicalMembers(request.body);
    slot.fingerprint = fingerprintOf(request, slot.members);
    if (!request.idempotency) refuseWhileRunning(slot);
    running.set(slot.name, slot.fingerprint);
    request.idempotency = slot;
    if (request.routeOptions.config.oneCommit && Date.now() >= lookFirstUntil) return;
    return (await sendKept(slot, reply)) ? reply : undefined;
  }

  /** An answer that is too old to be repeated must not refuse the commit either. */
  function handledAgainIfOver(handler: RouteHandlerMethod): RouteHandlerMethod {
    return async function (request, reply) {
      try {
        return await handler.call(this, request, reply);
      } catch (error) {
        const row = request.idempotency && isDuplicate(error) ? await find(request.idempotency) : null;
        if (!row || !isOver(row)) throw error;
        await forgetOldAnswers(db);
        return handler.call(this, request, reply);
      }
    };
  }

  function refuseWhileRunning(slot: Slot): void {
    const first = running.get(slot.name);
    if (first === undefined) return;
    if (first !== null && slot.fingerprint.length > 0) refuseOtherPayload(slot, first);
    throw new AppError(
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still running. Send the same request again in a moment.',
      { retryAfterSeconds: 1 },
    );
  }

  function onSend(
    request: FastifyRequest,
    _reply: FastifyReply,
    payload: unknown,
    done: DoneFuncWithErrOrRes,
  ) {
    if (request.idempotency) running.delete(request.idempotency.name);
    done(null, payload);
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
    reply.code(row.status);
    const body = row.body ?? (row.made ? await remade(row.made, reply) : await sealed(slot));
    reply.header('idempotency-replayed', 'true').type('application/json; charset=utf-8').send(body);
    return true;
  }

  async function sealed(slot: Slot): Promise<string> {
    const body = await keyring.open(secretRef(slot));
    if (!body) throw new Error('the sealed answer of an idempotent request is missing');
    return body.toString();
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
      running.set(slot.name, null);
      request.idempotency = slot;
      return (await hasAnswer(slot)) ? 'answered' : 'new';
    },
    async isAnswered(request) {
      const key = readKey(request);
      return key !== null && hasAnswer(slotOf(request, key));
    },
    canonicalMember: (request, name) => request.idempotency?.members?.get(name),
    answer<Body>(request: FastifyRequest, reply: FastifyReply, { secret } = { secret: false }): Answer<Body> {
      let payload: string | Buffer | null = null;
      return {
        remember(body, made) {
          const text = String(reply.serialize(body));
          payload = text.length < longText ? text : Buffer.from(text);
          const slot = request.idempotency;
          if (!slot) return [];
          const { statusCode: status } = reply;
          if (made) return [answerWrite(slot, { status, made: made(), body: null })];
          if (!secret) return [answerWrite(slot, { status, made: null, body: text })];
          const sealed = keyring.seal(secretRef(slot), Buffer.from(text));
          return [sealed, answerWrite(slot, { status, made: null, body: null })];
        },
        send() {
          return reply.type('application/json; charset=utf-8').send(payload);
        },
      };
    },
    async rescue(error, request, reply) {
      if (!request.idempotency || !mayBeAnswered(request.idempotency, error)) return false;
      if (isDuplicate(error)) lookFirstUntil = Date.now() + lookFirstMs;
      return sendKept(request.idempotency, reply);
    },
  };
}

/** With the status set before, as each status has its own schema. */
async function remade(made: Buffer, reply: FastifyReply): Promise<string> {
  const { remake } = reply.routeOptions.config;
  if (!remake)
    throw new Error(`${reply.routeOptions.url} cannot make the answer of an idempotent request again`);
  return String(reply.serialize(await remake(reply.request, made)));
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
  const { workspaceId } = callerOf(request);
  const { method } = request;
  const path = pathOf(request).replace(/\/$/, '');
  // None of them contains a space.
  const name = `${workspaceId} ${method} ${path} ${key}`;
  return {
    workspaceId,
    method,
    path,
    key,
    name,
    hash: Buffer.from(hash('sha256', name), 'hex'),
    fingerprint: noFingerprint,
    members: null,
  };
}

const noFingerprint = Buffer.alloc(0);

/** The hash of query, body and, for an answer that is the caller's own, the caller, as a canonical JSON array. */
function fingerprintOf(request: FastifyRequest, members: Map<string, string> | null): Buffer {
  const own = request.routeOptions.config.idempotent === 'own';
  const query = canonicalize(request.query) ?? 'null';
  const body = members ? joinMembers(members) : (canonicalize(request.body) ?? 'null');
  const caller = own ? JSON.stringify(callerOf(request).actor.id) : 'null';
  const asked = `[${query},${body},${caller}]`;
  // One-shot `hash` on text: a createHash object costs more than the hashing.
  return Buffer.from(hash('sha256', asked), 'hex');
}

/** In the order of the canonical form; null for a body that is not an object of JSON values. */
function canonicalMembers(body: unknown): Map<string, string> | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null;
  const members = new Map<string, string>();
  for (const name of Object.keys(body).sort()) {
    const text = canonicalJsonOrNull((body as Record<string, unknown>)[name]);
    if (text === null) return null;
    members.set(name, text);
  }
  return members;
}

function joinMembers(members: Map<string, string>): string {
  let text = '';
  for (const [name, value] of members) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${value}`;
  return `{${text}}`;
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

function answerWrite(
  { hash, fingerprint }: Slot,
  { status, made, body }: Pick<AnswerRow, 'status' | 'made' | 'body'>,
): Write {
  return {
    table: 'idempotent_answers',
    row: { created_at: new Date(), status, slot: hash, fingerprint, made, body },
  };
}

function secretRef(slot: Slot): { workspaceId: string; purpose: string; id: string } {
  return {
    workspaceId: slot.workspaceId,
    purpose: secretPurpose,
    id: hash('sha256', JSON.stringify([slot.workspaceId, slot.method, slot.path, slot.key])),
  };
}
