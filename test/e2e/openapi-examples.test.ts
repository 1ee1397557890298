/** The examples of the OpenAPI document: there for every JSON body, valid, of one story, and true of a running service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { placeholder } from '../../src/http/server/openapi-examples.ts';
import { parseProof } from '../../src/proof/verify/proof.ts';
import { isAcceptableAddress } from '../../src/runtime/address.ts';
import { idPrefixes } from '../../src/runtime/ids.ts';
import { sample } from '../../src/runtime/schemas.ts';
import { becomeOwner, type Visitor } from '../support/clients/browser-session.ts';
import type { Json } from '../support/openapi/openapi-compatibility.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { withoutReferences } from '../support/openapi/openapi-references.ts';
import { fitsSchema } from '../support/openapi/openapi-shapes.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

interface Body {
  /** Operation, and where in it. */
  name: string;
  schema: Json;
  /** By their names, if there are several. */
  examples: [name: string, value: Json][];
}

interface Operation {
  method: string;
  path: string;
  documented: Json;
}

let service: Service;
let document: Json;
/** By its operationId. */
let operations: Map<string, Operation>;
let bodies: Body[];
let owner: Visitor;

before(async () => {
  service = await startService({ env: webhookSettings, runLoops: false });
  document = withoutReferences((await service.call('GET', '/openapi.json', { key: null })).json);
  operations = new Map(
    Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, documented]): [string, Operation] => [
        documented.operationId,
        { method: method.toUpperCase(), path, documented },
      ]),
    ),
  );
  owner = await becomeOwner(service, {
    ...{ name: 'Ada', email: 'ada@example.com' },
    password: 'the tide waits for nobody',
  });
  const sent = Object.values<Json>(withoutReferences({ ...document, paths: document.webhooks }).paths);
  bodies = [...operations.values()]
    .map(({ documented }) => documented)
    .concat(sent.map(({ post }) => post))
    .flatMap(bodiesOf);
});
after(() => service.close());

function bodiesOf({ operationId, requestBody, responses }: Json): Body[] {
  const places: [string, Json][] = [['request', requestBody], ...Object.entries<Json>(responses)];
  return places.flatMap(([place, described]) => {
    const media = described?.content?.['application/json'];
    if (!media) return [];
    const named = Object.entries<Json>(media.examples ?? {}).map(([name, example]): [string, Json] => [
      name,
      (example.$ref ? document.components.examples[example.$ref.split('/').at(-1)] : example).value,
    ]);
    const examples: Body['examples'] =
      media.example === undefined ? named : [['example', media.example], ...named];
    return [{ name: `${operationId} ${place}`, schema: media.schema, examples }];
  });
}

test('every JSON body has an example, and it fits its schema', () => {
  assert.ok(bodies.length > 300, `${bodies.length} bodies`);
  for (const { name, schema, examples } of bodies) {
    assert.notEqual(examples.length, 0, `${name} has no example`);
    for (const [, value] of examples)
      assert.ok(fitsSchema(schema, value), `${name}: ${JSON.stringify(value)}`);
  }
});

test('required path and query parameters have an example too', () => {
  for (const [operationId, { documented }] of operations) {
    for (const { name, required, schema, example } of documented.parameters ?? [])
      if (required) assert.ok(fitsSchema(schema, example), `${operationId} ${name}: ${example}`);
      else assert.equal(example, undefined, `${operationId} ${name} may be left out`);
  }
});

test('no example is a placeholder, and schemas do not repeat them', () => {
  for (const { name, schema, examples } of bodies) {
    for (const text of textsOf(examples.map(([, value]) => value)))
      assert.notEqual(text, placeholder, `${name}: a text has neither an example nor a format`);
    assert.doesNotMatch(JSON.stringify(schema), /"examples":/, name);
  }
});

test('examples are consistent: one vault, ids of the right form, and times in order', () => {
  const prefixes = [...idPrefixes, 'usr', 'ses', 'inv', 'ntc', 'win', 'psk', 'sgr', 'apr', 'ptl', 'pag'].join(
    '|',
  );
  const id = new RegExp(`^(${prefixes})_[0-9A-HJKMNP-TV-Z]{26}$`);
  for (const { name, examples } of bodies) {
    const values = examples.map(([, value]) => value);
    for (const text of textsOf(values)) {
      if (/^[a-z]{2,3}_[0-9A-Z]+$/.test(text)) assert.match(text, id, name);
      if (/^0x[0-9a-fA-F]{40}$/.test(text)) assert.ok(isAcceptableAddress(text), `${name}: ${text}`);
    }
    for (const object of objectsOf(values)) {
      if (object.format) continue;
      if (object.vaultId) assert.equal(object.vaultId, sample.vaultId, name);
      const times = ['performedAt', 'createdAt', 'recordedAt', 'updatedAt', 'lastSeenAt', 'finishedAt']
        .concat('expiresAt')
        .map((member) => object[member])
        .filter((time) => time != null);
      assert.deepEqual(times, times.toSorted(), name);
      const [made] = times;
      if (made && object.anchor) assert.ok(made < object.anchor.anchoredAt, name);
      if (object.status === 'pending' && 'anchor' in object) assert.equal(object.anchor, null, name);
    }
  }
});

test('proofs in examples are well formed', () => {
  const proofs = bodies.flatMap(({ examples }) =>
    objectsOf(examples.map(([, value]) => value)).filter(({ format }) => format === 'holdfast/proof@1'),
  );
  assert.ok(proofs.length > 7, `${proofs.length} proofs`);
  for (const proof of proofs) assert.deepEqual(parseProof(proof).faults, []);
});

test('the service accepts the example of each request, with ids that it knows', async () => {
  const known = new Map<string, string>([[sample.endpointUrl, someTarget]]);
  const send = (operationId: string, key?: string) => sendExample(operationId, { known, key });
  const learn = (example: string, value: string) => known.set(example, value);
  learn(sample.vaultAddress, (await send('createVault')).address);
  await send('updateVault');
  await send('listVaultTransactions');
  learn(sample.otherVaultAddress, (await send('createVault')).address);
  learn(sample.recordId, (await send('createRecord')).id);
  await send('createRecords');
  await send('createRecordVersion');
  learn(sample.fileId, (await send('createFile')).id);
  await send('createFileVersion');
  await send('validateFile');
  learn(sample.workerAddress, (await send('createWorker')).address);
  await send('updateWorker');
  learn(sample.assetId, (await send('createAsset')).assetId);
  learn(sample.parentAssetId, (await send('createAsset')).assetId);
  await send('updateAsset');
  await send('addAssetViewers');
  await send('addAssetWorkers');
  await send('installAsset');
  await send('removeAsset');
  learn(sample.maintenanceId, (await send('createMaintenance')).maintenanceId);
  // The service holds the key of this worker.
  await send('createSignoff', await service.onBehalfKey());
  learn(sample.intervalId, (await send('createAssetInterval')).id);
  await send('updateAssetInterval');
  learn(sample.endpointId, (await send('createEndpoint')).id);
  await send('updateEndpoint');
  await send('createReplay');
  await send('createApiKey');
  await send('transferFile');
  await send('transferAsset');
});

/** The body of the answer. */
async function sendExample(
  operationId: string,
  { known, key = service.key }: { known: Map<string, string>; key?: string | undefined },
): Promise<Json> {
  const { method, path, documented } = operationOf(operationId);
  const { example } = documented.requestBody.content['application/json'];
  const [target = '', body] = [pathWith(path, documented.parameters), JSON.stringify(example)].map((text) =>
    [...known].reduce((all, [from, to]) => all.replaceAll(from, to), text),
  );
  const answer = await service.call(method, target, { body, key });
  assert.ok(answer.status < 300, `${operationId} ${body}: ${answer.text}`);
  return answer.json;
}

test('examples of errors match the service, word for word', async () => {
  const { examples } = document.components;
  for (const [operationId, { method, path, documented }] of operations) {
    if (!documented.responses['4XX'].content['application/json'].examples.resource_not_found) continue;
    const { security, responses, requestBody, parameters } = documented;
    const { $ref } = responses['4XX'].content['application/json'].examples.resource_not_found;
    const { example } = requestBody?.content['application/json'] ?? {};
    const query = parameters
      .filter((one: Json) => one.in === 'query' && one.required)
      .map(({ name, example }: Json) => `${name}=${encodeURIComponent(example)}`)
      .join('&');
    const target = `${pathWith(path, parameters)}${query === '' ? '' : `?${query}`}`;
    const answer = await ask(security, { method, target, body: example });
    assert.equal(answer.status, 404, `${operationId}: ${answer.text}`);
    assert.equal(answer.json.message, examples[$ref.split('/').at(-1)].value.message, operationId);
  }
  const refused = await service.call('GET', '/api-v1/platform/vaults', { key: null });
  assert.equal(refused.json.message, examples.unauthorized.value.message);
});

test('examples of invalid requests match the service too', async () => {
  for (const [operationId, { method, path, documented }] of operations) {
    const { security, responses, parameters = [], tags } = documented;
    const named = responses['4XX'].content['application/json'].examples.invalid_request;
    if (!named || tags[0] === 'operations') continue;
    // The file is looked for before its new version is read.
    if (operationId === 'createFileVersion') continue;
    const body = documented.requestBody ? {} : undefined;
    const answer = await ask(security, { method, target: pathWith(path, parameters), body });
    assert.equal(answer.status, 400, `${operationId}: ${answer.text}`);
    assert.equal(answer.json.message, named.value.message, operationId);
  }
});

/** By whom it is open to. */
function ask(
  security: Json[],
  { method, target, body }: { method: string; target: string; body?: unknown },
): Promise<Answer> {
  const takesKey = security.some((way) => 'apiKey' in way);
  return takesKey ? service.call(method, target, { body }) : owner.call(method, target, { body });
}

function operationOf(operationId: string): Operation {
  return operations.get(operationId) ?? assert.fail(`there is no ${operationId}`);
}

function pathWith(path: string, parameters: Json[] = []): string {
  return path.replace(/\{(\w+)\}/g, (_, wanted) =>
    encodeURIComponent(parameters.find(({ name }) => name === wanted).example),
  );
}

function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function objectsOf(value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objectsOf)];
}
