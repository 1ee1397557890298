/** What each operation takes and returns, derived from the OpenAPI document. */
import type { EventStream, StreamArguments } from './event-stream.ts';
import type { List } from './list.ts';
import type { operations } from './openapi-types.ts';
import type { FileToSend } from './upload.ts';

/** How to send an operation. */
export interface Operation {
  method: string;
  path: string;
  /** Arguments that belong into the query. */
  query: readonly string[];
  takesKey?: boolean;
  takesBody?: boolean;
  isList?: boolean;
  /** Sending it twice does what sending it once does. */
  isRepeatable?: boolean;
  /** Answers with something else than JSON: the caller gets the Response. */
  isRaw?: boolean;
}

/** Names of operations, those of webhooks aside. */
export type OperationId = Exclude<keyof operations, `on${string}`>;

/** Members of the path, the query and the body in one object. */
export type ArgumentsOf<Id extends OperationId> = Given<operations[Id]['parameters']['path']> &
  Given<operations[Id]['parameters']['query']> &
  BodyOf<operations[Id]['requestBody']>;

export type ResultOf<Id extends OperationId> = SuccessOf<operations[Id]['responses']>;

export type ItemOf<Id extends OperationId> = ResultOf<Id> extends readonly (infer Item)[] ? Item : never;

export interface CallOptions {
  /** For operations that create something. Made for you if you give none, and kept across retries. */
  idempotencyKey?: string;
  /** The ETag of what you have read: the change is refused if it is no longer the newest. */
  ifMatch?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** For each attempt, until the answer has come; uploads and downloads have none unless you set one. */
  timeoutMs?: number;
  /** How often to try again; overrides that of the client. */
  retries?: number;
  /** Called while a file is sent. */
  onProgress?: (progress: UploadProgress) => void;
  /** Called with the Response, whose headers have X-Evidence, ETag and X-Request-Id. */
  onResponse?: (response: Response) => void;
}

export interface UploadProgress {
  sentBytes: number;
  /** Null if nobody knows the size of the stream. */
  totalBytes: number | null;
}

export type Method<Id extends OperationId> = Id extends 'streamEvents'
  ? (args?: StreamArguments, options?: CallOptions) => EventStream
  : Partial<ArgumentsOf<Id>> extends ArgumentsOf<Id>
    ? (args?: ArgumentsOf<Id>, options?: CallOptions) => Returned<Id>
    : (args: ArgumentsOf<Id>, options?: CallOptions) => Returned<Id>;

type Returned<Id extends OperationId> = Id extends `list${string}`
  ? [ItemOf<Id>] extends [never]
    ? Promise<ResultOf<Id>>
    : List<ItemOf<Id>>
  : Promise<ResultOf<Id>>;

/** An absent group of parameters adds nothing. */
type Given<Group> = [NonNullable<Group>] extends [never] ? unknown : NonNullable<Group>;

type BodyOf<Body> = [NonNullable<Body>] extends [never]
  ? unknown
  : NonNullable<Body> extends { content: infer Contents }
    ? undefined extends Body
      ? Partial<FormOf<Contents>>
      : FormOf<Contents>
    : unknown;

type FormOf<Contents> = {
  [Type in keyof Contents]: Type extends 'multipart/form-data'
    ? Omit<Contents[Type], 'file'> & { file: FileToSend }
    : Contents[Type];
}[keyof Contents];

type SuccessOf<Responses> = {
  [Status in keyof Responses & (200 | 201 | 202 | 204)]: ContentOf<Responses[Status]>;
}[keyof Responses & (200 | 201 | 202 | 204)];

type ContentOf<Answer> = Answer extends { content: infer Contents }
  ? {
      [Type in keyof Contents]: Type extends 'application/json'
        ? Contents[Type]
        : Type extends `text/plain${string}`
          ? string
          : Response;
    }[keyof Contents]
  : undefined;
