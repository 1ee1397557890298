/** Puts workers with passkeys, and work that they signed, into a service that is to be archived. */
import assert from 'node:assert/strict';
import { signoffDigest } from '../../src/proof/signoff/signoff-message.ts';
import type { Visitor } from '../support/clients/browser-session.ts';
import { type SoftPasskey, softPasskey } from '../support/clients/soft-passkey.ts';
import { filesOfZip } from '../support/clients/zip-bytes.ts';
import type { Client, Json } from './client.ts';
import type { MadePeople } from './people.ts';
import type { MadePlatform } from './platform.ts';
import type { AskedProof, Filled, Signer } from './summary.ts';

export interface MadeSigning extends Filled {
  signers: Signer[];
  /** For a dossier of the asset. */
  assetId: string;
  viewer: string;
}

interface Crew {
  /** Without a licence. */
  performer: Holder;
  inspector: Holder;
  certifier: Holder;
  /** Whose passkey was revoked. */
  former: Holder;
}

interface Holder {
  worker: string;
  id: string;
  passkey: SoftPasskey;
}

const assetId = 'AP-0147';
const released = {
  approvedData: [{ reference: 'CMM 22-11-34', revision: '12' }],
  workOrder: 'WO-2026-0147',
  release: { as: 'component', work: 'tested', remarks: 'Firmware unchanged.' },
};

/** Call it when no other work is certified any more: from then on that needs a key of the worker's own. */
export async function fillSigning(
  client: Client,
  { visitors, platform }: Pick<MadePeople, 'visitors'> & { platform: MadePlatform },
): Promise<MadeSigning> {
  const { owner, developer } = visitors;
  const vaultAddress = platform.vaults.harbour.address;
  await client.post('/damc/assets/', { vaultAddress, assetId, name: 'Autopilot computer' });
  await makeRules(owner);
  const crew = await hireCrew(client, { owner, developer });
  await leaveRegistrations(client, { owner, developer });
  const persons = await tellPersons(client, { owner, developer });
  const workers = Object.values(crew).map(({ worker }) => worker);
  await client.post(`/damc/assets/${assetId}/workers/`, { workers });

  const url = `/damc/assets/${assetId}/maintenances/`;
  const enter = async (summary: string): Promise<string> => {
    const entry = { type: 'calibration', summary, performedAt: '2026-02-02T10:00:00Z' };
    const work = { workerAddress: crew.performer.worker, data: released, fileIds: [platform.report.id] };
    return (await client.post(url, { ...entry, ...work })).maintenanceId;
  };
  const signed = await enter('Calibrated after the replacement of a gyro.');
  await signByLink(client, `${url}${signed}/signoffs/`, crew.performer);
  await signWithPasskey(client, `${url}${signed}/signoffs/`, { ...crew.inspector, role: 'inspected' });
  await signWithPasskey(client, `${url}${signed}/signoffs/`, { ...crew.certifier, role: 'certified' });
  const linked = await enter('Calibrated, and somebody has the link to sign it.');
  const { worker: workerAddress } = crew.performer;
  await client.post(`${url}${linked}/signoffs/requests/`, { workerAddress, role: 'performed' });
  const mistaken = { workerAddress: crew.inspector.worker, role: 'performed' };
  const withdrawn = await client.post(`${url}${linked}/signoffs/requests/`, mistaken);
  await client.send('DELETE', `/damc/sign-requests/${withdrawn.id}`);
  const unsigned = await enter('Calibrated, and signed after an upgrade.');
  const path = `/api-v1${url}${unsigned}/signoffs/`;
  await fillIntervals(client, signed);
  const revoked = `/damc/workers/${crew.former.worker}/passkeys/${crew.former.id}/revoke`;
  await client.post(revoked, { reason: 'Lost at sea' });

  const read = (path: string) => ({ key: 'all', path: `/api-v1/damc/${path}` });
  const viewed = (below: string) =>
    read(`assets/${assetId}/maintenances/${below}?viewerAddress=${vaultAddress}`);
  const documentOf = async (path: string): Promise<string> =>
    JSON.stringify((await client.get(path.slice('/api-v1'.length))).document);
  const proofOf = async (of: string, path: string, [at, query = '']: string[]): Promise<AskedProof> => ({
    of,
    path: `${path}proof/${query}`,
    content: await documentOf(`${at}${query}`),
  });
  const ofStatement = (of: string, { worker }: Holder, number: number) => {
    const { path } = read(`workers/${worker}/passkeys/statements/${number}/`);
    return proofOf(of, path, [path]);
  };
  const ofSignoff = (number: number) => {
    const { path } = read(`assets/${assetId}/maintenances/${signed}/signoffs/${number}/`);
    return proofOf(`sign-off ${number} with a passkey`, path, [path, `?viewerAddress=${vaultAddress}`]);
  };
  return {
    assetId,
    viewer: vaultAddress,
    signers: [{ key: 'all', worker: workerAddress, path, passkey: crew.performer.passkey.save() }],
    reads: [
      ...[
        'signoffs/organisation/',
        'signoffs/rules/',
        'signoffs/rules/work/',
        `assets/${assetId}/rules/`,
      ].map(read),
      read(`assets/${assetId}/intervals/`),
      ...[...workers, ...persons].map((worker) => read(`workers/${worker}/`)),
      ...workers.map((worker) => read(`workers/${worker}/passkeys/`)),
      read(`workers/${crew.former.worker}/passkeys/statements/2/`),
      viewed(''),
      ...[signed, linked, unsigned].map((id) => viewed(`${id}/details/`)),
      ...[1, 2, 3].map((number) => viewed(`${signed}/signoffs/${number}/`)),
    ],
    proofs: [
      await ofStatement('a passkey', crew.performer, 1),
      await ofStatement('a revoked passkey', crew.former, 1),
      await ofStatement('the revocation of a passkey', crew.former, 2),
      ...(await Promise.all([1, 2, 3].map(ofSignoff))),
    ],
  };
}

/** Once all of it is anchored: the asset with its history, sealed and anchored as well. */
export async function exportDossier(
  { url, key }: Client,
  { assetId, viewer }: Pick<MadeSigning, 'assetId' | 'viewer'>,
): Promise<AskedProof> {
  const path = `/api-v1/damc/assets/${assetId}`;
  const response = await fetch(`${url}${path}/dossier/?viewerAddress=${viewer}&wait=60`, {
    headers: { 'x-api-key': key },
  });
  assert.equal(response.status, 200);
  const files = await filesOfZip(Buffer.from(await response.arrayBuffer()));
  const id = response.headers.get('x-dossier-id');
  return {
    of: 'a dossier',
    path: `${path}/dossiers/${id}/proof/?viewerAddress=${viewer}`,
    content: String(files.get('dossier.json')),
  };
}

async function byPerson({ call }: Visitor, method: string, [path, body]: [string, object?]): Promise<Json> {
  const answer = await call(method, `/api-v1${path}`, body && { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.json;
}

async function makeRules(owner: Visitor): Promise<void> {
  const calibration = { type: 'calibration', scope: 'avionics', categories: ['B2'] };
  const rules = [
    { ...calibration, critical: false },
    { type: '*', scope: 'line', categories: [], critical: false },
  ];
  const organisation = {
    name: 'Fjord Air Technical AS',
    address: 'Hangar 4, Bergen',
    authority: 'Luftfartstilsynet, Norway',
    approvalNumber: 'NO.145.0815',
    regulation: 'Part-145',
  };
  await byPerson(owner, 'PUT', ['/damc/signoffs/organisation/', organisation]);
  await byPerson(owner, 'PUT', ['/damc/signoffs/rules/', { ownKey: ['certified'] }]);
  await byPerson(owner, 'PUT', ['/damc/signoffs/rules/work/', { rules }]);
  const ofAsset = { rules: [{ ...calibration, critical: true }] };
  await byPerson(owner, 'PUT', [`/damc/assets/${assetId}/rules/`, ofAsset]);
}

async function hire(client: Client, name: string, licences: object[] = []): Promise<string> {
  const { address } = await client.post('/damc/workers/', { name });
  if (licences.length > 0) await client.send('PATCH', `/damc/workers/${address}/`, { licences });
  return address;
}

const b2 = (number: string) => ({
  scope: 'avionics',
  number,
  authority: 'EASA',
  category: 'B2',
  validFrom: '2020-01-01T00:00:00.000Z',
  expiresAt: null,
});

/** Who invites workers, and who confirms their passkeys. */
type TwoPeople = Pick<MadePeople['visitors'], 'owner' | 'developer'>;

async function hireCrew(client: Client, people: TwoPeople): Promise<Crew> {
  const hold = async (name: string, licences: object[], counts = false): Promise<Holder> => {
    const worker = await hire(client, name, licences);
    return { worker, ...(await confirm(client, worker, { ...people, counts })) };
  };
  return {
    performer: await hold('Kari Dahl', []),
    inspector: await hold('Lars Vik', [b2('NO.66.2001')], true),
    certifier: await hold('Nina Aas', [b2('NO.66.2002')]),
    former: await hold('Siv Bakke', []),
  };
}

async function confirm(client: Client, worker: string, { owner, ...more }: TwoPeople & { counts?: boolean }) {
  const { passkey, id, code } = await register(client, worker, more);
  await byPerson(owner, 'POST', [`/damc/workers/${worker}/passkeys/${id}/confirm`, { code }]);
  return { passkey, id };
}

async function register(
  client: Client,
  worker: string,
  { developer, counts = false }: Pick<TwoPeople, 'developer'> & { counts?: boolean },
) {
  const { token } = await byPerson(developer, 'POST', [`/damc/workers/${worker}/invite`, {}]);
  const { options } = await byLink(client, '/damc/passkeys/options', { token });
  const passkey = softPasskey({ origin: originOf(client), counts });
  const body = { token, response: passkey.register(options) };
  const { id, code } = await byLink(client, '/damc/passkeys/register', body);
  return { passkey, id, code };
}

/**
 * An invitation that nobody has followed yet, a passkey that nobody has confirmed yet, one that its worker has to sign, and one
 * that was refused.
 */
async function leaveRegistrations(client: Client, people: TwoPeople): Promise<void> {
  const invited = await hire(client, 'Tor Hage');
  await byPerson(people.developer, 'POST', [`/damc/workers/${invited}/invite`, {}]);
  await register(client, await hire(client, 'Ola Lie'), people);
  const stranger = await hire(client, 'Per Moe');
  const { id } = await register(client, stranger, people);
  await byPerson(people.owner, 'POST', [`/damc/workers/${stranger}/passkeys/${id}/refuse`, {}]);
  const holder = await hire(client, 'Ane Ruud');
  await confirm(client, holder, people);
  const { id: second } = await confirm(client, holder, people);
  await client.post(`/damc/workers/${holder}/passkeys/${second}/link`);
}

/** Workers who are one person, who were thought to be, and who is a member of the workspace. */
async function tellPersons(
  client: Client,
  { owner, developer }: Pick<MadePeople['visitors'], 'owner' | 'developer'>,
): Promise<string[]> {
  const workers: string[] = [];
  for (const name of ['Una Berg', 'Una B. Berg', 'U. Borg', 'Dag Ness'])
    workers.push(await hire(client, name));
  const [workerAddress, same, other, member] = workers;
  await client.send('PUT', `/damc/workers/${same}/identity/`, { workerAddress });
  await client.send('PUT', `/damc/workers/${other}/identity/`, { workerAddress });
  await byPerson(owner, 'DELETE', [`/damc/workers/${other}/identity/`]);
  const { id: userId } = await byPerson(developer, 'GET', ['/platform/me']);
  await byPerson(owner, 'PUT', [`/damc/workers/${member}/person/`, { userId }]);
  return workers;
}

async function fillIntervals(client: Client, completedBy: string): Promise<void> {
  const url = `/damc/assets/${assetId}/intervals/`;
  const lastDone = { at: '2026-01-01T00:00:00Z', hours: 0, cycles: 0 };
  const life = { name: 'Life', kind: 'life-limit', every: { hours: 40_000 } };
  await client.post(url, { ...life, lastDone });
  const yearly = { name: 'Calibration', every: { months: 12 }, tolerance: { days: 30 } };
  const { id } = await client.post(url, { ...yearly, lastDone });
  await client.send('PUT', `${url}${id}/`, { completedBy });
}

async function signWithPasskey(
  client: Client,
  url: string,
  { worker: workerAddress, passkey, role }: Holder & { role: string },
): Promise<void> {
  const asked = await client.get(`${url}request/?workerAddress=${workerAddress}&role=${role}`);
  const { signedAt, passkey: request } = asked;
  await client.post(url, { workerAddress, role, signedAt, assertion: passkey.sign(request) });
}

/** As the page of the link does it. */
async function signByLink(
  client: Client,
  url: string,
  { worker: workerAddress, passkey }: Holder,
): Promise<void> {
  const { token } = await client.post(`${url}requests/`, { workerAddress, role: 'performed' });
  const opened = await byLink(client, '/damc/sign-requests/open', { token });
  const signedAt = `${opened.now.slice(0, 19)}.000Z`;
  const digest = signoffDigest({ ...opened.message, signedAt });
  const challenge = Buffer.from(digest).toString('base64url');
  const assertion = passkey.sign({ rpId: opened.passkey.rpId, challenge });
  await byLink(client, '/damc/sign-requests/sign', { token, signedAt, assertion });
}

/** What whoever has a link may ask, without a key. */
async function byLink({ call }: Client, path: string, body: object): Promise<Json> {
  const answer = await call('POST', `/api-v1${path}`, { key: null, body });
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.json;
}

/** Browsers make no passkeys for an address. */
function originOf({ url }: Client): string {
  return url.replace('127.0.0.1', 'localhost');
}
