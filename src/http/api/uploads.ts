/**
 * Routes that accept a file: before validation, the form is read and its file stored or hashed, so that schema,
 * Idempotency-Key and handler see `file` with its hash among the other fields. Uploads not taken by a handler are
 * discarded.
 */
import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import type { Blobs, ReceivedBlob } from '../../blobs/blobs.ts';
import { digestOf, tooLarge } from '../../blobs/digest.ts';
import { fromBytea } from '../../db/bytea.ts';
import { budgetExceeded } from '../../runtime/budgets.ts';
import { AppError } from '../../runtime/errors.ts';
import { callerOf } from '../admission/authentication.ts';
import { refuseUnusable } from '../bodies/json-body.ts';
import { lineOf } from '../bodies/line.ts';
import { type FormFile, fileField, readForm } from '../bodies/multipart.ts';
import type { Api } from './api.ts';
import type { Idempotency } from './idempotency.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts a form with a file besides JSON: `store` keeps its bytes for the handler, `hash` only hashes them. */
    upload?: 'store' | 'hash';
  }
  interface FastifyRequest {
    /** Stored, but not taken by a handler yet. */
    upload: ReceivedBlob | null;
    /** Called once the upload is committed or discarded. */
    giveBackRoom: (() => void) | null;
  }
}

export type StoredRoom = (workspaceId: string) => Promise<{ limit: number; left: number } | null>;

export interface UploadDeps {
  blobs: Pick<Blobs, 'receive'>;
  maxFileBytes: number;
  /** How much more a workspace may store; null: unlimited. */
  storedRoom: StoredRoom;
  idempotency: Pick<Idempotency, 'takeKey'>;
}

export interface Uploads {
  /** The server for routes with `upload` in their config: only these read forms. */
  app: Api;
  /** Whether an upload runs on this line: it has no time limit while bytes keep coming. */
  isRunning(line: object): boolean;
}

/** A sender that is silent for this long is disconnected. */
const longestSilenceMs = 60_000;
/** Room for fields and boundaries besides the file. */
const formRoomBytes = 2 * 1024 * 1024;

/** The file of a form, as it appears among the fields. */
export interface UploadedFile {
  /** As sent in the form, unchecked. */
  name: string;
  mediaType: string;
  /** SHA-256 in hex. */
  contentHash: `0x${string}`;
  size: number;
}

/** Represents the file in the schema of a form. */
export const uploadedFile = Type.Unsafe<UploadedFile>({});

/** Bodies of a route with `upload`. The form's schema describes `file` with `uploadedFile`. */
export function jsonOrForm<Json extends TSchema, Form extends TSchema>(json: Json, form: Form) {
  return Type.Unsafe<Static<Json> | Static<Form>>({
    content: { 'application/json': { schema: json }, [formType]: { schema: form } },
  });
}

const formType = 'multipart/form-data';

/** The blob of the request's file; the caller must attach and settle it. */
export function takeUpload(request: FastifyRequest): ReceivedBlob {
  const blob = request.upload;
  if (blob === null) {
    throw new AppError(
      'idempotency_in_progress',
      'The answer kept for this Idempotency-Key has just expired. Send the request again.',
      { retryAfterSeconds: 1 },
    );
  }
  request.upload = null;
  return blob;
}

/** Call after everything else that adds hooks, and before the routes are added. */
export async function acceptUploads(root: FastifyInstance, deps: UploadDeps): Promise<Uploads> {
  const { blobs, maxFileBytes, idempotency } = deps;
  const running = new WeakSet<object>();
  /** Bytes per workspace that this node has received and that are not committed yet. */
  const underWay = new Map<string, number>();
  root.decorateRequest('upload', null);
  root.decorateRequest('giveBackRoom', null);
  root.addHook('onRoute', (route) => {
    if (!route.config?.upload) return;
    route.preValidation = [...[route.preValidation ?? []].flat(), readBody];
    route.onSend = [...[route.onSend ?? []].flat(), undoUntaken];
    route.onResponse = [...[route.onResponse ?? []].flat(), async (request) => request.giveBackRoom?.()];
  });

  async function readBody(request: FastifyRequest): Promise<void> {
    if (request.mediaType === undefined) {
      throw new AppError('invalid_request', `The body is missing: send ${formType} with a file, or JSON.`);
    }
    if (request.mediaType !== formType) return;
    refuseLargeOrCompressed(request, maxFileBytes);
    const answered = (await idempotency.takeKey(request)) === 'answered';
    const store = request.routeOptions.config.upload === 'store' && !answered;
    const line = lineOf(request);
    const hangUp = () => line.destroy();
    running.add(line);
    line.setTimeout(longestSilenceMs, hangUp);
    try {
      const { fields, file } = await readForm(request, (file) => takeFile(request, file, store));
      refuseUnusable(fields);
      request.body = file === null ? fields : { ...fields, [fileField]: file };
    } finally {
      running.delete(line);
      line.setTimeout(0, hangUp);
    }
  }

  async function takeFile(
    request: FastifyRequest,
    { name, mediaType, bytes }: FormFile,
    store: boolean,
  ): Promise<UploadedFile> {
    if (store) request.upload = await receive(request, bytes);
    const { contentHash, size } = request.upload ?? (await digestOf(bytes, { maxBytes: maxFileBytes }));
    return { name, mediaType, contentHash: fromBytea(contentHash), size };
  }

  /** Refuses bytes beyond the budget before storing them: neither one large upload nor many at once can fill the disk. */
  async function receive(request: FastifyRequest, bytes: FormFile['bytes']): Promise<ReceivedBlob> {
    const { workspaceId } = callerOf(request);
    const room = await deps.storedRoom(workspaceId);
    let taken = 0;
    const take = (count: number) => {
      taken += count;
      underWay.set(workspaceId, (underWay.get(workspaceId) ?? 0) + count);
    };
    request.giveBackRoom = () => {
      take(-taken);
      if (underWay.get(workspaceId) === 0) underWay.delete(workspaceId);
    };
    async function* counted(): FormFile['bytes'] {
      for await (const piece of bytes) {
        take(piece.length);
        if (room && (underWay.get(workspaceId) ?? 0) > room.left)
          throw budgetExceeded('stored_bytes', room.limit);
        yield piece;
      }
    }
    return blobs.receive(workspaceId, counted(), { maxBytes: maxFileBytes, givenAway: true });
  }

  let app: Api | undefined;
  // In its own context: no other route accepts forms, or pays for the parser's hooks.
  await root.register(async (context) => {
    await context.register(multipart, { throwFileSizeLimit: false });
    app = context.withTypeProvider<TypeBoxTypeProvider>();
  });
  if (!app) throw new Error('the context for uploads was not made');
  return { app, isRunning: (line) => running.has(line) };
}

async function undoUntaken(request: FastifyRequest): Promise<void> {
  const blob = request.upload;
  request.upload = null;
  await blob?.settle('failed');
}

function refuseLargeOrCompressed({ headers }: FastifyRequest, maxFileBytes: number): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new AppError(
      'unsupported_media_type',
      `The body must not be compressed, but Content-Encoding is ${encoding}.`,
    );
  }
  if (Number(headers['content-length'] ?? 0) > maxFileBytes + formRoomBytes) throw tooLarge(maxFileBytes);
}
