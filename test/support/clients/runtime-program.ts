/** A program that uses the packages, as text: it runs in Node.js, Deno, Bun and in a page, and returns what it saw. */
export const runtimeProgram = `
import { createClient, ResourceNotFoundError, verifyWebhook } from './client/main.js';
import { chainAt, trustNode, verifyProof } from './verify/main.js';

export async function run(baseUrl, apiKey) {
  const holdfast = createClient({ baseUrl, apiKey });
  const stopping = new AbortController();
  const events = holdfast.streamEvents({ type: 'record.anchor.confirmed' }, { signal: stopping.signal });
  const confirmed = events.next();
  const vault = await holdfast.createVault({ name: 'Runtime' });
  const content = new Uint8Array(300_000).fill(7);
  let sentBytes = 0;
  const file = await holdfast.createFile(
    { vaultAddress: vault.address, name: 'bytes.bin', file: new Blob([content]) },
    { onProgress: (progress) => { sentBytes = progress.sentBytes; } },
  );
  const streamed = await holdfast.createFile({
    vaultAddress: vault.address,
    file: { content: () => new Blob([content]).stream(), name: 'stream.bin', size: content.length },
  });
  const data = { celsius: -18.4 };
  const record = await holdfast.createRecord({ vaultAddress: vault.address, data });
  await holdfast.waitUntilConfirmed(record);
  const { event } = (await confirmed).value;
  stopping.abort();
  await events.next().catch(() => {});
  const chain = chainAt(new URL('/verify/rpc', baseUrl));
  const proof = await holdfast.getRecordProof({ recordId: record.id });
  const trust = await trustNode(chain);
  const { verdict, summary } = await verifyProof(proof, { content: data, chain, trust });
  const changed = await verifyProof(proof, { content: { celsius: 0 }, chain, trust });
  const missing = await holdfast.getRecord({ recordId: 'rec_none' }).catch((error) => error);
  const forged = { secret: 'whsec_' + btoa('x'.repeat(32)), headers: {}, body: '{}' };
  const refused = await verifyWebhook(forged).catch((error) => error.name);
  const names = [];
  for await (const { name } of holdfast.listFiles({ vaultAddress: vault.address, limit: 1 })) names.push(name);
  const download = await holdfast.downloadFileContent({ fileId: streamed.id });
  return {
    verdict, summary, names, refused,
    changed: changed.verdict,
    sameHash: file.contentHash === streamed.contentHash,
    progressed: sentBytes >= content.length,
    event: event.type,
    missing: missing instanceof ResourceNotFoundError,
    downloaded: (await download.arrayBuffer()).byteLength,
  };
}
`;

/** Beside it, for runtimes with a command line: address and key are its arguments. */
export const commandProgram = `
import { run } from './run.mjs';
const args = globalThis.Deno ? Deno.args : process.argv.slice(2);
console.log(JSON.stringify(await run(...args)));
`;
