/** The nodes of the state's tries: reads them from the service, remembers recent ones, and records what a block changes. */
import type { BatchDBOp, DB } from '@ethereumjs/util';
import { emptyRoot } from './header-fields.ts';
import type { StateChanges } from './protocol.ts';
import { reachable } from './reachable.ts';

/** The state needs a node that nobody has. */
export class MissingNode extends Error {
  override name = 'MissingNode';
}

export type ReadNode = (key: Uint8Array) => Promise<Uint8Array | null>;

/** What V8 takes for an entry beside the bytes themselves. */
const entryOverhead = 320;

/**
 * Keys contain the hash of the node, so a remembered node is never out of date, even if the block that made it was
 * never committed.
 */
export function createNodeCache(mostBytes: number) {
  const known = new Map<string, Uint8Array>();
  let bytes = 0;
  const sizeOf = (name: string, value: Uint8Array) => name.length + value.length + entryOverhead;
  return {
    get(name: string): Uint8Array | undefined {
      const value = known.get(name);
      if (value === undefined) return undefined;
      known.delete(name);
      known.set(name, value);
      return value;
    },
    has: (name: string) => known.has(name),
    put(name: string, value: Uint8Array): void {
      if (known.has(name)) return;
      known.set(name, value);
      bytes += sizeOf(name, value);
      for (const [oldest, old] of known) {
        if (bytes <= mostBytes) return;
        known.delete(oldest);
        bytes -= sizeOf(oldest, old);
      }
    },
  };
}

export type NodeCache = ReturnType<typeof createNodeCache>;

/** A view of the nodes for one request. Writes stay in it. */
export interface NodeView extends DB<string, Uint8Array> {
  /** What the state has under one of these names: looks at what is remembered first. */
  firstOf(names: readonly string[]): Promise<Uint8Array>;
  /** What the state with this root has more and less than the one that was opened. */
  changes(root: Uint8Array): StateChanges;
}

export function openNodes(cache: NodeCache, read: ReadNode): NodeView {
  /** The last write of each key; null for a deletion. */
  const written = new Map<string, Uint8Array | null>();
  /** Read from outside: the state has them already, and the trie library writes back what it read. */
  const present = new Set<string>();

  async function get(name: string): Promise<Uint8Array | undefined> {
    const own = written.get(name);
    if (own) return own;
    // The trie of a contract without storage has no nodes at all.
    if (name.endsWith(emptyRoot.slice(2))) return undefined;
    return (await find(name)) ?? missing([name]);
  }

  async function find(name: string): Promise<Uint8Array | null> {
    const value = cache.get(name) ?? (await read(Buffer.from(name, 'hex')));
    if (value === null) return null;
    cache.put(name, value);
    present.add(name);
    return value;
  }

  const view: NodeView = {
    get,
    // Not through `get`: the code 0x80 has the hash of the empty trie.
    async firstOf(names) {
      const remembered = names.filter((name) => written.get(name) || cache.has(name));
      for (const name of remembered.length > 0 ? remembered : names) {
        const value = written.get(name) ?? (await find(name));
        if (value) return value;
      }
      return missing(names);
    },
    async put(name, value) {
      written.set(name, value);
    },
    async del(name) {
      written.set(name, null);
    },
    async batch(operations: BatchDBOp<string, Uint8Array>[]) {
      for (const operation of operations) {
        written.set(operation.key, operation.type === 'put' ? operation.value : null);
      }
    },
    shallowCopy: () => view,
    async open() {},
    /** Also remembers the new nodes, which the next block is likely to need. */
    changes(root) {
      const added = new Map<string, Uint8Array>();
      const replaced: Uint8Array[] = [];
      for (const [name, value] of written) {
        if (value !== null && !present.has(name)) added.set(name, value);
        if (value === null && present.has(name)) replaced.push(Buffer.from(name, 'hex'));
      }
      const kept = [...reachable(root, added)].flatMap((name) => {
        const value = added.get(name);
        if (value) cache.put(name, value);
        return value ? [[Buffer.from(name, 'hex'), value] as [Uint8Array, Uint8Array]] : [];
      });
      return { added: kept, replaced };
    },
  };
  return view;
}

function missing(names: readonly string[]): never {
  throw new MissingNode(`the state has no node ${names.join(' or ')}`);
}
