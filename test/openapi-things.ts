/** One of each thing that a path can name, for tests that walk every route. */
import assert from 'node:assert/strict';
import { type Account, becomeOwner, join, type Visitor } from './browser-session.ts';
import { withClient } from './database.ts';
import { type Operation, type PathValues, someHash, someTarget } from './openapi-operations.ts';
import { waitUntil } from './process.ts';
import type { Service } from './service.ts';
import { sendForm } from './upload.ts';

const vaults = '/api-v1/platform/vaults';
const files = '/api-v1/platform/files';
const records = '/api-v1/platform/records';
const assets = '/api-v1/damc/assets/';
const webhooks = '/api-v1/platform/webhooks';
const people = '/api-v1/platform';

/** Made anew with each call; the service needs `webhookSettings`. `name` appears in whatever takes one. */
export async function makeThings(service: Service, name = 'Thing'): Promise<PathValues> {
  return { ...(await makeOwned(service, name)), ...(await makePeople(service, name)) };
}

/** What keys make. */
async function makeOwned(service: Service, name = 'Thing'): Promise<PathValues> {
  await knowChain(service);
  const make = async (path: string, body: object) => {
    const made = await service.call('POST', path, { body });
    assert.ok(made.status < 300, made.text);
    return made.json;
  };
  const vault = await make(vaults, { name });
  const record = await make(records, { vaultAddress: vault.address, data: { name }, externalId: name });
  const { json: file } = await sendForm(service, files, {
    parts: [
      ['vaultAddress', vault.address],
      ['file', new File([name, vault.address], name)],
    ],
  });
  const validation = await make(`${files}/${file.id}/validate`, { contentHash: someHash });
  const worker = await make('/api-v1/damc/workers/', { name });
  const { assetId } = await make(assets, { vaultAddress: vault.address, name });
  await make(`${assets}${assetId}/viewers/`, { viewers: [worker.address] });
  await make(`${assets}${assetId}/workers/`, { workers: [worker.address] });
  const { maintenanceId } = await make(`${assets}${assetId}/maintenances/`, {
    workerAddress: worker.address,
    type: 'inspection',
    summary: name,
    performedAt: new Date(Date.now() - 60_000).toISOString(),
  });
  const signing = { workerAddress: worker.address, role: 'performed' };
  const signoff = await make(`${assets}${assetId}/maintenances/${maintenanceId}/signoffs/`, signing);
  const lastDone = { at: new Date().toISOString(), hours: 0, cycles: 0 };
  const interval = await make(`${assets}${assetId}/intervals/`, { name, every: { days: 1 }, lastDone });
  const key = await make('/api-v1/platform/api-keys', { name });
  const endpoint = await make(`${webhooks}/endpoints`, {
    url: someTarget,
    eventTypes: ['vault.deactivated'],
    description: name,
  });
  // Deactivating is an event, so the endpoint gets a delivery.
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  await service.call('PATCH', `${vaults}/${vault.address}/deactivate`);
  await service.call('PATCH', `${vaults}/${vault.address}/reactivate`);
  const delivery = await waitUntil(async () => {
    const query = `endpointId=${endpoint.id}&type=vault.deactivated`;
    return (await service.call('GET', `${webhooks}/deliveries?${query}`)).json[0] ?? null;
  });
  const replay = await make(`${webhooks}/endpoints/${endpoint.id}/replay`, {
    from: startedAt,
    to: new Date(Date.now() + 60_000).toISOString(),
  });
  return {
    vaultAddress: vault.address,
    recordId: record.id,
    fileId: file.id,
    validationId: validation.id,
    address: worker.address,
    assetId,
    maintenanceId,
    number: String(signoff.number),
    intervalId: interval.id,
    keyId: key.id,
    endpointId: endpoint.id,
    deliveryId: delivery.id,
    replayId: replay.id,
  };
}

/** As if a chain had been reached once: what names it cannot be answered before. */
function knowChain({ databaseUrl }: Service): Promise<unknown> {
  const insert = `insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
    values (424242, $1, false, $2, $2) on conflict do nothing`;
  return withClient({ connectionString: databaseUrl }, (client) =>
    client.query(insert, [Buffer.alloc(32, 1), Buffer.alloc(20, 1)]),
  );
}

/** The first owner, who invites the others. */
const owners = new WeakMap<Service, Promise<Visitor>>();

function ownerOf(service: Service): Promise<Visitor> {
  const account = { name: 'Owner', email: 'owner@example.com', password: 'correct horse battery' };
  const owner = owners.get(service) ?? becomeOwner(service, account);
  owners.set(service, owner);
  return owner;
}

/** Somebody new, signed in, with that role in the default workspace. */
export async function makePerson(service: Service, role: string, name = 'Person'): Promise<Visitor> {
  const owner = await ownerOf(service);
  const { json: invitation } = await owner.call('POST', `${people}/invitations`, { body: { role } });
  return join(service, invitation.link, newAccount(name));
}

let accounts = 0;

function newAccount(name: string): Account {
  accounts += 1;
  return { name, email: `${name}${accounts}@example.com`.toLowerCase(), password: 'correct horse battery' };
}

/** An owner with a session, somebody else who is a member, and an invitation. */
export async function makePeople(service: Service, name = 'Thing'): Promise<PathValues> {
  const owner = await makePerson(service, 'owner', name);
  const call = async (method: string, path: string, body?: object) =>
    (await owner.call(method, `${people}/${path}`, { body })).json;
  const invite = async (body: object) => {
    const invitation = await call('POST', 'invitations', body);
    return { ...invitation, token: new URL(invitation.link).hash.slice(1) };
  };
  const member = newAccount(name);
  await call('POST', 'invitations/accept', { token: (await invite({ role: 'viewer' })).token, ...member });
  const members: { id: string; email: string }[] = await call('GET', 'members');
  const { email } = await call('GET', 'me');
  const { id, token } = await invite({ role: 'viewer', email });
  return {
    cookie: owner.cookies(),
    memberId: members.find((one) => one.email === member.email)?.id ?? '',
    sessionId: (await call('GET', 'sessions'))[0].id,
    invitationId: id,
    token,
  };
}

/** Requests that leave less than there was: a new version without bytes hides those of the one before. */
const takesAway = /^DELETE |\/accept$|^POST .*\/files\/\{fileId\}\/versions$/;

/** Things for one request: those given, or new ones when the request would take them away from the others. */
export async function thingsFor(
  service: Service,
  { name, scope }: Operation,
  things: PathValues,
): Promise<PathValues> {
  if (!takesAway.test(name)) return things;
  return { ...things, ...(await (scope === null ? makePeople(service) : makeOwned(service))) };
}
