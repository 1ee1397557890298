/** The client: a method for each operation of the API, and what most programs need around them. */
import { untilConfirmed, type WaitOptions } from './confirmation.ts';
import { type EventStream, type FollowArguments, followEvents, streamEvents } from './event-stream.ts';
import { createList, type Page, pagesOf } from './list.ts';
import type { components } from './openapi-types.ts';
import type { ArgumentsOf, CallOptions, Operation, OperationId, ResultOf } from './operation-types.ts';
import { type Operations, operationTable } from './operations.ts';
import { type Arguments, type ClientOptions, createTransport } from './transport.ts';

type Schemas = components['schemas'];

export interface Client extends Operations {
  /** Calls an operation by its name, and returns the Response with its data. */
  request<Id extends OperationId>(
    id: Id,
    args?: ArgumentsOf<Id>,
    options?: CallOptions,
  ): Promise<Page<ResultOf<Id>>>;
  /** The pages of any operation that has cursors, such as the history of an asset. */
  pages<Id extends OperationId>(
    id: Id,
    args?: ArgumentsOf<Id>,
    options?: CallOptions,
  ): AsyncGenerator<Page<ResultOf<Id>>, void>;
  /** Events from the feed, oldest first, then new ones as they come. */
  followEvents(args?: FollowArguments, options?: CallOptions): EventStream;
  /** Waits for a version of a record or a file, for an asset, or for whatever the function reads. */
  waitUntilConfirmed(record: Schemas['Record'], options?: WaitOptions): Promise<Schemas['Record']>;
  waitUntilConfirmed(file: Schemas['File'], options?: WaitOptions): Promise<Schemas['File']>;
  waitUntilConfirmed(asset: Schemas['Asset'], options?: WaitOptions): Promise<Schemas['Asset']>;
  waitUntilConfirmed<Thing extends { status: string }>(
    read: () => Promise<Thing>,
    options?: WaitOptions,
  ): Promise<Thing>;
}

type Anchored = Schemas['Record'] | Schemas['File'] | Schemas['Asset'];
type Reader = () => Promise<{ status: string }>;

export function createClient(options: ClientOptions): Client {
  const send = createTransport(options);
  const table: Record<OperationId, Operation> = operationTable;
  const ask = (id: OperationId) => (args: Arguments, options: CallOptions) => send(table[id], args, options);

  const methods = Object.fromEntries(
    Object.entries(table).map(([id, operation]) => [
      id,
      (args: Arguments = {}, options: CallOptions = {}) =>
        operation.isList
          ? createList(ask(id as OperationId), args, options)
          : send(operation, args, options).then(({ data }) => data),
    ]),
  ) as unknown as Operations;

  function readerOf(thing: Anchored): Reader {
    if ('assetId' in thing) return () => methods.getAsset({ assetId: thing.assetId });
    const { id, version } = thing;
    if ('dataHash' in thing) return () => methods.getRecord({ recordId: id, version });
    return async () => {
      const newest = await methods.getFile({ fileId: id });
      if (newest.version === version) return newest;
      for await (const other of methods.listFileVersions({ fileId: id })) {
        if (other.version === version) return other;
      }
      throw new TypeError(`The file ${id} has no version ${version}.`);
    };
  }

  return {
    ...methods,
    streamEvents: (args = {}, options = {}) => streamEvents(ask('streamEvents'), args, options),
    followEvents: (args = {}, options = {}) => followEvents(ask('listEvents'), args, options),
    async request(id, args, options) {
      const { data, ...rest } = await send(table[id], args as Arguments, options);
      return { data: data as ResultOf<typeof id>, ...rest };
    },
    pages: (id, args, options = {}) => pagesOf(ask(id), (args ?? {}) as Arguments, options),
    waitUntilConfirmed: ((given: Anchored | Reader, options: WaitOptions = {}) =>
      untilConfirmed(
        typeof given === 'function' ? given : readerOf(given),
        options,
      )) as Client['waitUntilConfirmed'],
  };
}
