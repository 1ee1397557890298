/** Blobs for checks to be tried on: received, attached and committed as by an upload. */
import { type BlobsDeps, createBlobs } from '../src/blobs/blobs.ts';
import { newId } from '../src/runtime/ids.ts';

/** One of a few bytes and one of two chunks; their ids. */
export async function storeBlobs(deps: BlobsDeps, workspaceId: string): Promise<[string, string]> {
  const blobs = createBlobs(deps);
  const store = async (content: Buffer) => {
    async function* bytes() {
      yield content;
    }
    const received = await blobs.receive(workspaceId, bytes(), { maxBytes: content.length });
    const attached = await deps.db.transaction().execute((db) => received.attach(db, newId('vlt')));
    await received.settle('committed');
    return attached.blobId;
  };
  return [await store(Buffer.from('evidence')), await store(Buffer.alloc(200_000, 7))];
}
