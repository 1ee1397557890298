/** One of each thing that a path can name, for tests that walk every route. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { registrationTypes } from '../../../src/proof/signoff/passkey-document.ts';
import { signoffDigest } from '../../../src/proof/signoff/signoff-message.ts';
import { typedDataDigest } from '../../../src/proof/signoff/typed-data.ts';
import { newId } from '../../../src/runtime/ids.ts';
import { type Account, becomeOwner, join, type Visitor } from '../clients/browser-session.ts';
import { type SoftPasskey, softPasskey } from '../clients/soft-passkey.ts';
import { sendForm } from '../clients/upload.ts';
import { withClient } from '../service/database.ts';
import { waitUntil } from '../service/process.ts';
import type { Service } from '../service/service.ts';
import { asPerson, type Operation, type PathValues, someHash, someTarget } from './openapi-operations.ts';

const vaults = '/api-v1/platform/vaults';
const files = '/api-v1/platform/files';
const records = '/api-v1/platform/records';
const assets = '/api-v1/damc/assets/';
const workers = '/api-v1/damc/workers/';
const passkeys = '/api-v1/damc/passkeys';
const signRequests = '/api-v1/damc/sign-requests';
const webhooks = '/api-v1/platform/webhooks';
const people = '/api-v1/platform';

/** Creates new things with each call; the service needs `webhookSettings`. `name` is used wherever a name is accepted. */
export async function makeThings(service: Service, name = 'Thing'): Promise<PathValues> {
  await knowChain(service);
  const vault = await makeVault(service, name);
  return {
    ...vault,
    ...(await makeRecord(service, vault, name)),
    ...(await makeFile(service, vault, name)),
    ...(await makeAsset(service, vault, name)),
    ...(await makeKey(service, name)),
    ...(await makeEndpoint(service, vault, name)),
    ...(await makeApproval(service, name)),
    ...(await makePeople(service, name)),
  };
}

/** Creates something in a workspace with an API key. */
type Make = (service: Service, vault: PathValues, name?: string) => Promise<PathValues>;

async function create({ call }: Service, path: string, body: object, options: { key?: string } = {}) {
  const made = await call('POST', path, { body, ...options });
  assert.ok(made.status < 300, made.text);
  return made.json;
}

async function makeVault(service: Service, name: string): Promise<PathValues> {
  return { vaultAddress: (await create(service, vaults, { name })).address };
}

async function makeRecord(service: Service, { vaultAddress }: PathValues, name: string): Promise<PathValues> {
  return {
    recordId: (await create(service, records, { vaultAddress, data: { name }, externalId: name })).id,
  };
}

const makeFile: Make = async (service, { vaultAddress = '' }, name = 'Thing') => {
  const { json: file } = await sendForm(service, files, {
    parts: [
      ['vaultAddress', vaultAddress],
      ['file', new File([name, randomUUID()], name)],
    ],
  });
  const validation = await create(service, `${files}/${file.id}/validate`, { contentHash: someHash });
  return { fileId: file.id, validationId: validation.id };
};

const makeAsset: Make = async (service, { vaultAddress }, name = 'Thing') => {
  const { address, passkeyId } = await makePasskeyWorker(service, name);
  // The service holds the key of this one.
  const { address: workerAddress } = await create(service, workers, { name });
  const { assetId } = await create(service, assets, { vaultAddress, name });
  await create(service, `${assets}${assetId}/viewers/`, { viewers: [address] });
  await create(service, `${assets}${assetId}/workers/`, { workers: [address, workerAddress] });
  const { maintenanceId } = await create(service, `${assets}${assetId}/maintenances/`, {
    workerAddress,
    type: 'inspection',
    summary: name,
    performedAt: new Date(Date.now() - 60_000).toISOString(),
  });
  const signing = { workerAddress, role: 'performed' };
  const signoffs = `${assets}${assetId}/maintenances/${maintenanceId}/signoffs/`;
  const signoff = await create(service, signoffs, signing, { key: await service.onBehalfKey() });
  const asked = { workerAddress: address, role: 'performed' };
  const { id: requestId } = await create(service, `${signoffs}requests/`, asked);
  const lastDone = { at: new Date().toISOString(), hours: 0, cycles: 0 };
  const interval = { name, every: { days: 1 }, lastDone };
  const { id: intervalId } = await create(service, `${assets}${assetId}/intervals/`, interval);
  const publication = { until: new Date(Date.now() + 3_600_000).toISOString(), show: ['name'] };
  const { id: pageId } = await create(service, `${assets}${assetId}/published-pages/`, publication);
  const dossier = await service.call(
    'GET',
    `${assets}${assetId}/dossier/?viewerAddress=${vaultAddress}&wait=0`,
  );
  const dossierId = dossier.headers.get('x-dossier-id') ?? assert.fail(dossier.text);
  const number = String(signoff.number);
  const worker = { address, passkeyId, workerAddress };
  return { ...worker, assetId, maintenanceId, requestId, number, intervalId, dossierId, pageId };
};

/** A link for a worker, and what a device of theirs answers to it. */
async function invitePasskey(service: Service, address: string) {
  const inviter = await inviterOf(service);
  const invited = await inviter.call('POST', `${workers}${address}/invite`, { body: {} });
  assert.equal(invited.status, 201, invited.text);
  const { token } = invited.json;
  const { options } = await create(service, `${passkeys}/options`, { token });
  const passkey = softPasskey({ origin: service.url.replace('127.0.0.1', 'localhost') });
  return { passkey, address, token, registration: JSON.stringify(passkey.register(options)) };
}

async function newWorker(service: Service, name: string): Promise<string> {
  return (await create(service, workers, { name })).address;
}

async function makeInvitedWorker(service: Service): Promise<PathValues> {
  const { passkey: _, ...values } = await invitePasskey(service, await newWorker(service, 'Thing'));
  return values;
}

/** A passkey of a worker that nobody has confirmed yet, and the code to do so. */
async function registerPasskey(service: Service, worker: string) {
  const { passkey, address, token, registration } = await invitePasskey(service, worker);
  const response = JSON.parse(registration);
  const { id, code } = await create(service, `${passkeys}/register`, { token, response });
  return { passkey, address, passkeyId: id, code };
}

async function makeRegisteredWorker(service: Service): Promise<PathValues> {
  const { passkey: _, ...values } = await registerPasskey(service, await newWorker(service, 'Thing'));
  return values;
}

async function confirmPasskey(service: Service, worker: string) {
  const { passkey, address, passkeyId, code } = await registerPasskey(service, worker);
  const owner = await ownerOf(service);
  const path = `${workers}${address}/passkeys/${passkeyId}/confirm`;
  const confirmed = await owner.call('POST', path, { body: { code } });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { passkey, address, passkeyId };
}

/** A worker who signs with a passkey. */
async function makePasskeyWorker(service: Service, name: string) {
  return confirmPasskey(service, await newWorker(service, name));
}

/** A second passkey that the worker has to sign, a link to do so, and what their device with the first one answers to it. */
async function makeUnsignedPasskey(service: Service): Promise<PathValues> {
  const { passkey, address } = await makePasskeyWorker(service, 'Thing');
  const { passkeyId } = await confirmPasskey(service, address);
  const { token } = await create(service, `${workers}${address}/passkeys/${passkeyId}/link`, {});
  return { address, passkeyId, token, assertion: JSON.stringify(await answerTo(service, token, passkey)) };
}

async function answerTo(service: Service, token: string, passkey: SoftPasskey) {
  const { message, passkey: asked } = await create(service, `${passkeys}/open`, { token });
  const digest = typedDataDigest({ types: registrationTypes, primaryType: 'PasskeyRegistration', message });
  return passkey.sign({ rpId: asked.rpId, challenge: Buffer.from(digest).toString('base64url') });
}

/** A link by which a worker signs an entry with a file, and what their device answers to it. */
const makeSignRequest: Make = async (service, { vaultAddress = '', fileId = '' }, name = 'Thing') => {
  const { passkey, address: workerAddress } = await makePasskeyWorker(service, name);
  const { assetId } = await create(service, assets, { vaultAddress, name });
  await create(service, `${assets}${assetId}/workers/`, { workers: [workerAddress] });
  const entries = `${assets}${assetId}/maintenances/`;
  const work = { workerAddress, type: 'inspection', summary: name, fileIds: [fileId] };
  const performedAt = new Date(Date.now() - 60_000).toISOString();
  const { maintenanceId } = await create(service, entries, { ...work, performedAt });
  const signing = { workerAddress, role: 'performed' };
  const link = await create(service, `${entries}${maintenanceId}/signoffs/requests/`, signing);
  const { token, id: requestId } = link;
  const { message, passkey: asked, now } = await create(service, `${signRequests}/open`, { token });
  const signedAt = `${now.slice(0, 19)}.000Z`;
  const challenge = Buffer.from(signoffDigest({ ...message, signedAt })).toString('base64url');
  const assertion = JSON.stringify(passkey.sign({ rpId: asked.rpId, challenge }));
  return { requestId, token, assertion, signedAt };
};

/** A worker who is a member. */
const makeBoundWorker: MakeForOwner = async (service, { cookie = '', memberId }) => {
  const { address } = await create(service, workers, { name: 'Thing' });
  const body = { userId: memberId };
  const bound = await service.call('PUT', `${workers}${address}/person/`, { ...asPerson(cookie), body });
  assert.equal(bound.status, 200, bound.text);
  return { address };
};

/** An answer of a device to a person who registers a passkey to sign in with. */
const makeDeviceAnswer: MakeForOwner = async (service, { cookie = '' }) => {
  const options = await service.call('POST', `${people}/passkeys/options`, asPerson(cookie));
  assert.equal(options.status, 200, options.text);
  const passkey = softPasskey({ origin: service.url.replace('127.0.0.1', 'localhost') });
  return { registration: JSON.stringify(passkey.register(options.json)) };
};

/** A passkey with which a person signs in. */
const makeSignInPasskey: MakeForOwner = async (service, things) => {
  const { registration = '' } = await makeDeviceAnswer(service, things);
  const body = { name: 'Thing', response: JSON.parse(registration) };
  const made = await service.call('POST', `${people}/passkeys`, { ...asPerson(things.cookie ?? ''), body });
  assert.equal(made.status, 201, made.text);
  return { passkeyId: made.json.id };
};

async function makeKey(service: Service, name = 'Thing'): Promise<PathValues> {
  return { keyId: (await create(service, '/api-v1/platform/api-keys', { name })).id };
}

/** A key that the key of the service asks for, which waits for a second person. */
function makeApproval({ databaseUrl, key }: Service, name = 'Thing'): Promise<PathValues> {
  const input = { name, scopes: ['files:write'], expiresAt: null };
  const approvalId = newId('apr');
  return withClient({ connectionString: databaseUrl }, async (client) => {
    await client.query(
      `insert into approvals (workspace_id, id, step, input, effect, role, digest, requested_kind, requested_by,
         requested_at, expires_at)
       select workspace_id, $1, 'api_key.create', $2, $2, 'developer', sha256($1::text::bytea), 'api_key', id,
         now(), now() + interval '1 day' from api_keys where secret_hash = sha256($3::text::bytea)`,
      [approvalId, input, key],
    );
    return { approvalId };
  });
}

const makeEndpoint: Make = async (service, { vaultAddress }, name = 'Thing') => {
  const endpoint = await create(service, `${webhooks}/endpoints`, {
    url: someTarget,
    eventTypes: ['vault.deactivated'],
    ed25519: true,
    description: name,
  });
  // Deactivating is an event, so the endpoint gets a delivery.
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  await service.call('PATCH', `${vaults}/${vaultAddress}/deactivate`);
  await service.call('PATCH', `${vaults}/${vaultAddress}/reactivate`);
  const delivery = await waitUntil(async () => {
    const query = `endpointId=${endpoint.id}&type=vault.deactivated`;
    return (await service.call('GET', `${webhooks}/deliveries?${query}`)).json[0] ?? null;
  });
  const links = `${webhooks}/endpoints/${endpoint.id}/portal-links`;
  const { id: portalLinkId } = await create(service, links, { description: name });
  const replay = await create(service, `${webhooks}/endpoints/${endpoint.id}/replay`, {
    from: startedAt,
    to: new Date(Date.now() + 60_000).toISOString(),
  });
  return { endpointId: endpoint.id, deliveryId: delivery.id, replayId: replay.id, portalLinkId };
};

/** A link that shows an endpoint, and a delivery that can be retried at any time, as nothing sends it meanwhile. */
const makePortalLink: Make = async (service, { vaultAddress }) => {
  const endpoint = { url: someTarget, eventTypes: ['vault.*'], enabled: false };
  const { id: endpointId } = await create(service, `${webhooks}/endpoints`, endpoint);
  await service.call('PATCH', `${vaults}/${vaultAddress}/deactivate`);
  await service.call('PATCH', `${vaults}/${vaultAddress}/reactivate`);
  const { json } = await service.call(
    'GET',
    `${webhooks}/deliveries?endpointId=${endpointId}&status=skipped`,
  );
  await service.call('PATCH', `${webhooks}/endpoints/${endpointId}`, { body: { enabled: true } });
  const rights = { mayChangeUrl: true, mayManageSecret: true };
  const made = await create(service, `${webhooks}/endpoints/${endpointId}/portal-links`, rights);
  return { endpointId, deliveryId: json[0].id, portalLinkId: made.id, token: tokenOf(made.link) };
};

export const tokenOf = (link: string) => new URL(link).pathname.split('/').at(-1) ?? '';

/** Pretends that a chain was reached once: operations that name the chain cannot answer before. */
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

/** Who invites workers, so that the owner can confirm their passkeys. */
const inviters = new WeakMap<Service, Promise<Visitor>>();

function inviterOf(service: Service): Promise<Visitor> {
  const inviter = inviters.get(service) ?? makePerson(service, 'developer', 'Inviter');
  inviters.set(service, inviter);
  return inviter;
}

/** A new person, signed in, with this role in the default workspace. */
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

/** An owner with a session, another person who is a member, and an invitation. */
export async function makePeople(service: Service, name = 'Thing'): Promise<PathValues> {
  const owner = await makeOwner(service, name);
  return { ...owner, ...(await makeMember(service, owner, name)), ...(await makeInvitation(service, owner)) };
}

/** A new owner, with their session. */
export async function makeOwner(service: Service, name = 'Thing'): Promise<PathValues> {
  const owner = await makePerson(service, 'owner', name);
  const { json: sessions } = await owner.call('GET', `${people}/sessions`);
  return { cookie: owner.cookies(), sessionId: sessions[0].id };
}

/** Call it rarely: only 30 invitations per minute can be viewed or accepted. */
export const makeMember: MakeForOwner = async (service, { cookie = '' }, name = 'Thing') => {
  const member = newAccount(name);
  const invitation = await invite(service, cookie, { role: 'viewer' });
  const body = { token: invitation.token, ...member };
  const accepted = await service.call('POST', `${people}/invitations/accept`, { ...asPerson(cookie), body });
  assert.equal(accepted.status, 200, accepted.text);
  const { json } = await service.call('GET', `${people}/members`, asPerson(cookie));
  const found = json.find(({ email }: { email: string }) => email === member.email);
  return { memberId: found.id };
};

/** An invitation for the owner, who is already a member. */
export const makeInvitation: MakeForOwner = async (service, { cookie = '' }) => {
  const { json: me } = await service.call('GET', `${people}/me`, asPerson(cookie));
  const { id, token } = await invite(service, cookie, { role: 'viewer', email: me.email });
  return { invitationId: id, token };
};

/** Creates something with the session of an owner. */
type MakeForOwner = (service: Service, owner: PathValues, name?: string) => Promise<PathValues>;

async function invite(
  service: Service,
  cookie: string,
  body: object,
): Promise<{ id: string; token: string }> {
  const answer = await service.call('POST', `${people}/invitations`, { ...asPerson(cookie), body });
  assert.equal(answer.status, 201, answer.text);
  return { id: answer.json.id, token: new URL(answer.json.link).hash.slice(1) };
}

/** Requests that remove something or can be sent only once, and how to create what they need anew. */
const takesAway: [request: RegExp, make: MakeForOwner][] = [
  // Nothing can be made in it any more.
  [/\/deactivate$/, (service) => makeVault(service, 'Thing')],
  [/^DELETE .*\/records\//, (service, vault) => makeRecord(service, vault, 'Thing')],
  // A new version without bytes hides those of the previous one.
  [/^DELETE .*\/files\/|^POST .*\/files\/\{fileId\}\/versions$/, makeFile],
  [/^DELETE .*\/assets\//, makeAsset],
  [/^DELETE .*\/person\/$/, makeBoundWorker],
  [/^DELETE .*\/identity\/$/, (service) => create(service, workers, { name: 'Thing' })],
  [/^POST .*\/platform\/passkeys$/, makeDeviceAnswer],
  [/^DELETE .*\/platform\/passkeys\//, makeSignInPasskey],
  [/damc\/passkeys\/(options|register)$/, (service) => makeInvitedWorker(service)],
  [
    /damc\/passkeys\/(open|sign)$|\/passkeys\/\{passkeyId\}\/(request\/|sign|link)$/,
    (service) => makeUnsignedPasskey(service),
  ],
  [/damc\/sign-requests\//, makeSignRequest],
  [/\/passkeys\/\{passkeyId\}\/(confirm|refuse)$/, (service) => makeRegisteredWorker(service)],
  [/\/webhooks\/portal\/|^DELETE .*\/portal-links\//, makePortalLink],
  [/\/approvals\/\{approvalId\}\//, (service) => makeApproval(service)],
  [/^DELETE .*\/webhooks\//, makeEndpoint],
  [/^DELETE .*\/api-keys\//, (service) => makeKey(service)],
  [/^DELETE .*\/members\//, makeMember],
  [/^DELETE .*\/sessions/, (service) => makeOwner(service)],
  [/^DELETE .*\/invitations\/|\/invitations\/accept$/, makeInvitation],
];

/** Things for one request: the given ones, or new ones when the request would remove them. */
export async function thingsFor(
  service: Service,
  { name }: Operation,
  things: PathValues,
): Promise<PathValues> {
  const [, make] = takesAway.find(([request]) => request.test(name)) ?? [];
  assert.ok(make !== undefined || !name.startsWith('DELETE'), `nothing is made anew for ${name}`);
  return make === undefined ? things : { ...things, ...(await make(service, things)) };
}
