/**
 * A day of a small maintenance organisation: a fuel pump is overhauled, installed, inspected, certified, corrected and
 * sold, over nothing but HTTP. Run it against a fresh service: see README.md beside it.
 */
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

const service = process.env.HOLDFAST_URL ?? 'http://127.0.0.1:3000';
const apiKey = process.env.HOLDFAST_API_KEY ?? '';
const folder = resolve(process.env.OUT_DIR ?? '.');
if (apiKey === '') {
  console.error('Set HOLDFAST_API_KEY to a key with the scope signoffs:on-behalf: see README.md.');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });

// biome-ignore lint/suspicious/noExplicitAny: an example reads answers as they come
type Answer = any;

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${service}/api-v1${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: Answer = response.status === 204 ? null : await response.json();
  // Every error has a code to decide by and a message that says what to do.
  if (!response.ok) throw Object.assign(new Error(answer.message), { code: answer.errorCode });
  return answer;
}

/** What has to be refused is refused. */
async function refused(code: string, attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if ((error as { code?: string }).code !== code) throw error;
    return say(`refused, as it should be (${code}): ${(error as Error).message}`);
  }
  throw new Error(`This should have been refused with ${code}.`);
}

let steps = 0;
function step(title: string): void {
  steps += 1;
  console.log(`\n${steps}. ${title}`);
}
function say(text: string): void {
  console.log(`   ${text}`);
}

/** Anchors come with the next batch: in seconds here, in minutes on a public chain. */
async function waitFor<T>(what: string, ask: () => Promise<T | null>): Promise<T> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(250)) {
    const found = await ask();
    if (found !== null) return found;
  }
  throw new Error(`Waited two minutes for ${what}.`);
}

const day = (offset: number) => new Date(Date.now() + offset * 24 * 60 * 60 * 1000).toISOString();
const isConfirmed = ({ status }: { status: string }) => status === 'confirmed' || status === 'finalized';
const suffix = Date.now().toString(36).toUpperCase();

step('Two owners: a maintenance organisation, and an airline');
const workshop = await call('POST', '/platform/vaults', { name: 'Nordlys Engine Services' });
const airline = await call('POST', '/platform/vaults', { name: 'Fjord Air' });
say(`${workshop.name} is ${workshop.address}`);
say(`${airline.name} is ${airline.address}`);

step('Three people, and what they are licensed for');
async function hire(name: string, licences: object[], address?: string): Promise<string> {
  const worker = await call('POST', '/damc/workers/', { name, ...(address && { address }) });
  await call('PATCH', `/damc/workers/${worker.address}/`, { licences });
  say(`${name} is ${worker.address}`);
  return worker.address;
}
const licence = (number: string, expiresAt: string) => ({
  scope: 'overhaul',
  number,
  authority: 'EASA',
  expiresAt,
});
const mechanic = await hire('Mia Berg', []);
const inspector = await hire('Jonas Lind', [licence('NO.66.4711', day(400))]);
// She keeps her key herself; the service never sees it.
const ownKey = privateKeyToAccount(generatePrivateKey());
const certifier = await hire('Astrid Vik', [licence('NO.66.1042', day(200))], ownKey.address);
const expired = await hire('Per Holm', [licence('NO.66.0815', day(-1))]);

step('The aircraft and the part');
const aircraft = `LN-FJA-${suffix}`;
const pump = `FP-2207-${suffix}`;
await call('POST', '/damc/assets/', {
  vaultAddress: workshop.address,
  assetId: aircraft,
  name: 'Airbus A320-214',
  serialNumber: '2207',
});
await call('POST', '/damc/assets/', {
  vaultAddress: workshop.address,
  assetId: pump,
  name: 'Main engine fuel pump',
  serialNumber: 'FP-88213',
  partNumber: '714900-3',
  metadata: { manufacturer: 'Eaton', ataChapter: '73-11' },
  usage: { hours: 11_204.5, cycles: 6_310 },
});
await call('POST', `/damc/assets/${pump}/workers/`, { workers: [mechanic, inspector, certifier, expired] });
await call('POST', `/damc/assets/${pump}/intervals/`, {
  name: 'Overhaul',
  every: { hours: 12_000, days: 3_650 },
  lastDone: { at: day(-3_700), hours: 0 },
});
const due = await call('GET', `/damc/assets/${pump}/due/?viewerAddress=${workshop.address}`);
say(`${pump} is registered; overdue: ${due.intervals.map(({ name }: Answer) => name).join(', ')}`);

step('Mia overhauls the pump and attaches the test report');
const form = new FormData();
form.set('vaultAddress', workshop.address);
form.set('file', new Blob(['Flow 412 l/h at 5,000 rpm. Leakage none. PASSED.\n']), 'bench-test.txt');
const uploaded = await fetch(`${service}/api-v1/platform/files`, {
  method: 'POST',
  headers: { 'x-api-key': apiKey },
  body: form,
});
const report = (await uploaded.json()) as Answer;
if (!uploaded.ok) throw new Error(report.message);
say(`bench-test.txt has the hash ${report.contentHash}`);
const overhaul = await call('POST', `/damc/assets/${pump}/maintenances/`, {
  workerAddress: mechanic,
  type: 'overhaul',
  summary: 'Overhauled to CMM 73-11-04 revision 7. Impeller and carbon seal replaced, bench test passed.',
  performedAt: day(-2),
  data: {
    usage: { hours: 11_204.5, cycles: 6_310 },
    partsReplaced: ['714912-1', '714977-2'],
    torqueNm: 24.5,
  },
  fileIds: [report.id],
});
say(`${overhaul.maintenanceId} has the hash ${overhaul.maintenanceHash}`);

step('It is signed off: performed, inspected, certified');
const signoffs = (entry: Answer) => `/damc/assets/${pump}/maintenances/${entry.maintenanceId}/signoffs/`;
const sign = (entry: Answer, workerAddress: string, role: string) =>
  call('POST', signoffs(entry), { workerAddress, role });
/** With a key that the service does not have: ask for the typed data, sign it, hand the signature in. */
async function signOutside(entry: Answer, role: string): Promise<void> {
  const query = new URLSearchParams({ workerAddress: certifier, role });
  const { domain, types, primaryType, message, signedAt } = await call(
    'GET',
    `${signoffs(entry)}request/?${query}`,
  );
  const { EIP712Domain: _, ...signed } = types;
  const signature = await ownKey.signTypedData({ domain, types: signed, primaryType, message });
  await call('POST', signoffs(entry), { workerAddress: certifier, role, signature, signedAt });
}
await sign(overhaul, mechanic, 'performed');
say('The service signed as performed, on behalf of Mia');
await refused('conflict', sign(overhaul, mechanic, 'certified'));
await refused('licence_expired', sign(overhaul, expired, 'certified'));
await sign(overhaul, inspector, 'inspected');
say('The service signed as inspected, on behalf of Jonas');
await signOutside(overhaul, 'certified');
say('Astrid signed as certified, with her own key');
const [interval] = due.intervals;
await call('PUT', `/damc/assets/${pump}/intervals/${interval.id}/`, {
  completedBy: overhaul.maintenanceId,
});

step('The pump goes into the aircraft');
await call('POST', `/damc/assets/${pump}/install/`, { parentAssetId: aircraft, at: day(-1) });
say(`${pump} is installed in ${aircraft}`);

step('The torque was written down wrong: a correction, never a change');
const corrected = await call('POST', `/damc/assets/${pump}/maintenances/`, {
  workerAddress: mechanic,
  type: 'overhaul',
  summary:
    'Overhauled to CMM 73-11-04 revision 7. Impeller and carbon seal replaced, bench test passed. Torque corrected.',
  performedAt: day(-2),
  data: { partsReplaced: ['714912-1', '714977-2'], torqueNm: 42.5 },
  fileIds: [report.id],
  supersedes: overhaul.maintenanceId,
});
await refused('conflict', sign(overhaul, inspector, 'performed'));
await sign(corrected, mechanic, 'performed');
await sign(corrected, inspector, 'inspected');
await signOutside(corrected, 'certified');
say(`${corrected.maintenanceId} supersedes ${overhaul.maintenanceId} and is signed anew`);

step('The airline looks before it buys');
const lookUp = (viewer: string) =>
  call('GET', `/damc/assets/${pump}/maintenances/${corrected.maintenanceId}/?viewerAddress=${viewer}`);
await refused('viewer_not_allowed', lookUp(airline.address));
await call('POST', `/damc/assets/${pump}/viewers/`, { viewers: [airline.address], until: day(7) });
const seen = await lookUp(airline.address);
say(`on chain ${seen.chainId}: ${JSON.stringify(seen.maintenance)}`);
const left = await call('GET', `/damc/assets/${pump}/due/?viewerAddress=${airline.address}`);
say(
  `next overhaul due on ${left.intervals[0].nextDue.at.slice(0, 10)} or at ${left.intervals[0].nextDue.hours} hours`,
);
const log = await call('GET', `/damc/assets/${pump}/access-log/`);
say(
  `the access log has ${log.length} entries so far; the last access was ${log[0].allowed ? 'allowed' : 'refused'}`,
);

step('All of it is anchored');
const entry = await waitFor('the anchor', async () => {
  const path = `/damc/assets/${pump}/maintenances/${corrected.maintenanceId}/details/`;
  const found = await call('GET', `${path}?viewerAddress=${workshop.address}`);
  return isConfirmed(found) && found.signoffs.every(isConfirmed) ? found : null;
});
say(`in block ${entry.anchor.blockNumber} by transaction ${entry.anchor.transactionHash}`);

step('Sold');
await call('POST', `/damc/assets/${pump}/remove/`, { at: new Date().toISOString() });
const sell = () =>
  call('POST', `/damc/assets/${pump}/transfer/`, { destinationVaultAddress: airline.address });
const transfer = await sell();
// Refused while the sale is under way, and just as well once the chain has confirmed it.
await refused('conflict', sell());
const sold = await waitFor('the transfer', async () => {
  const asset = await call('GET', `/damc/assets/${pump}/`);
  return asset.vaultAddress === airline.address ? asset : null;
});
say(`${transfer.id} is confirmed: ${sold.assetId} belongs to ${airline.name}, with its whole history`);
await refused('viewer_not_allowed', lookUp(mechanic));

step('The new owner takes the dossier');
const dossier = await fetch(
  `${service}/api-v1/damc/assets/${pump}/dossier/?viewerAddress=${airline.address}&attachments=true`,
  { headers: { 'x-api-key': apiKey } },
);
if (!dossier.ok || !dossier.body) throw new Error(await dossier.text());
const zip = join(folder, `dossier-${pump}.zip`);
await pipeline(Readable.fromWeb(dossier.body as never), createWriteStream(zip));
say(zip);
say('Unpack it, open verify.html and choose the ZIP file: the page checks everything without this service.');

step('One proof, checked on the command line');
const proofPath = `/damc/assets/${pump}/maintenances/${corrected.maintenanceId}/proof/?viewerAddress=${airline.address}`;
const files = { proof: join(folder, 'proof.json'), entry: join(folder, 'entry.json') };
writeFileSync(files.proof, JSON.stringify(await call('GET', proofPath), null, 2));
writeFileSync(files.entry, JSON.stringify(entry.entry, null, 2));
// Any node of the chain will do; that of the service is at hand.
const holdfast = resolve(import.meta.dirname, '../../bin/holdfast');
const verify = ['verify', files.proof, files.entry, '--rpc', `${service}/verify/rpc`];
console.log(`\n$ holdfast ${verify.join(' ')}`);
const { status, stdout, stderr } = spawnSync(holdfast, verify, { encoding: 'utf8' });
console.log(stdout + stderr);
if (status === 1 || status === null) process.exit(1);
console.log(
  status === 0
    ? 'Every step passed.'
    : 'What was skipped, a development chain cannot show: its operator sets its clock.',
);
