/** A node that is without its chain for a moment: what it then answers, who tries again, and that nothing is judged by it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { historyVerdictOf } from '../../pages/verify/history-words.ts';
import { verdictOf } from '../../pages/verify/verdict-words.ts';
import { createAnchorReader } from '../../src/chain/registry/anchor-reader.ts';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { NotNow } from '../../src/chain/rules/not-now.ts';
import { historyReport, proofReport } from '../../src/cli/verify-report.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createFindings } from '../../src/maintenance/dossier-check/dossier-findings.ts';
import { verifyHistory } from '../../src/proof/verify/history.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { takeLead } from '../support/chain/lead-taker.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { fixed, type Made, makeProofs, utf8 } from '../support/fixtures/proof-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { command } from '../support/service/commands.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const registry = { address: registryAddress, codeHash: registryCodeHash };
const contentHash = `0x${'5a'.repeat(32)}`;
const data = { signed: true };

let service: Service;
let database: Database;
let home: string;
let fileId: string;
/** Of a record that is confirmed. */
let proof: string;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-away-'));
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '100' } });
  database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  const { address } = (await post('vaults', { name: 'Away' })).json;
  fileId = (await post('files', { vaultAddress: address, name: 'deed.txt', contentHash })).json.id;
  const { id } = (await post('records', { vaultAddress: address, data })).json;
  await isConfirmed(`files/${fileId}`);
  await isConfirmed(`records/${id}`);
  proof = (await service.call('GET', `${platform}/records/${id}/proof`)).text;
});
after(async () => {
  await database?.close();
  await service?.close();
  if (home) await rm(home, { recursive: true });
});

test('without the lead it answers "not now" where it needs the chain, and later continues', async (t) => {
  assert.equal((await askRelay()).status, 200);
  const away = await takeLead(t, database);
  await waitUntil(async () => {
    const answer = await askRelay();
    if (answer.status === 200) return false;
    assertError(answer, 'service_unavailable', /Try again/);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    // Before it has noticed, it may only say that the chain gave no answer.
    return /no connection to the chain right now/.test(answer.json.message);
  });

  // Whoever asks for something else does not notice.
  assert.equal((await service.call('GET', '/readyz', { key: null })).status, 200);
  const { chain } = (await service.call('GET', `${platform}/stats`)).json;
  assert.equal(chain.headBlock, null);
  assert.ok(chain.indexedBlock > 0);
  const { status, json } = await post(`files/${fileId}/validate`, { contentHash });
  assert.deepEqual([status, json.status], [202, 'pending']);
  const validation = () => service.call('GET', `${platform}/files/${fileId}/validations/${json.id}`);

  const paths = [join(home, 'proof.json'), join(home, 'data.json')] as const;
  await Promise.all([writeFile(paths[0], proof), writeFile(paths[1], JSON.stringify(data))]);
  const refusals = () => service.logged().split('no connection to the chain right now').length;
  const before = refusals();
  const verify = () => command({}, 'verify', ...paths, '--rpc', `${service.url}/verify/rpc`, '--json');
  const verifying = verify();
  await waitUntil(() => refusals() > before);
  assert.equal((await validation()).json.status, 'pending');

  await away.giveBack();
  type Verification = Awaited<ReturnType<typeof verifyProof>>;
  let { steps } = JSON.parse((await verifying).stdout) as Verification;
  // It asks again for some seconds; a chain that takes longer to come back is asked for once more, as it says itself.
  while (steps.some(({ notNow }) => notNow))
    ({ steps } = JSON.parse((await verify()).stdout) as Verification);
  const passed = steps.filter((step) => step.status === 'pass').map(({ name }) => name);
  assert.deepEqual(passed.slice(0, 7), ['digest', 'claims', 'leaf', 'path', 'seal', 'registry', 'chain']);
  const { json: judged } = await waitUntil(async () => {
    const answer = await validation();
    return answer.json.status === 'completed' && answer;
  });
  assert.equal(judged.result, 'valid');
});

test('requests at the moment when the lead is lost still get an answer', async () => {
  const final = await relayReader(service).finalBlock(2);
  await database.pool.query("select pg_terminate_backend(backend_pid) from leaders where work = 'chain'");
  const seen = await Promise.all(Array.from({ length: 8 }, () => relayReader(service).finalBlock(2)));
  assert.ok(
    seen.every((block) => block >= final),
    JSON.stringify(seen),
  );
});

test('reports a busy chain as such wherever it reports a verification', async () => {
  const content = utf8('signed');
  const thing = { kind: 'file', id: 'fil_1', content, canonicalization: 'raw', key: fixed(0x11) } as const;
  const place = { sequence: 1, chainId: 1, blockNumber: 100, blockTime: 1_800_000_000 };
  const [{ proof }] = (await makeProofs([thing], place)) as [Made];
  const busy = createAnchorReader(async () => {
    throw new NotNow('node.example says: Too many ask at once.', 1);
  });
  const given = { chain: busy, registry };
  const result = await verifyProof(proof, { ...given, content });
  const history = { format: 'holdfast/history@1', subject: proof.subject, proofs: [proof] };
  const ofHistory = await verifyHistory(history, given);
  assert.deepEqual([result.verdict, ofHistory.verdict], ['incomplete', 'incomplete']);
  assert.deepEqual(
    result.steps.filter(({ status }) => status === 'skipped').map(({ name, notNow }) => [name, notNow]),
    [
      ['chain', true],
      ['finality', undefined],
      ['time', undefined],
    ],
  );
  const again = /not available right now: try again/;
  assert.match(proofReport(result, []), again);
  assert.match(historyReport(ofHistory, []), again);
  for (const verdict of [verdictOf(result), historyVerdictOf(ofHistory, null)]) {
    assert.match(verdict.sentence, again);
    assert.doesNotMatch(JSON.stringify(verdict), /not found|is not valid/);
  }
  const findings = createFindings();
  findings.steps('Proof 1', result.steps);
  assert.equal(findings.faultCount, 0);
  const [gap, ...more] = findings.gaps.keys();
  assert.match(gap ?? '', /not available right now, try again in a moment: node\.example says/);
  assert.deepEqual(more, []);
});

function post(path: string, body: object): Promise<Answer> {
  return service.call('POST', `${platform}/${path}`, { body });
}

function askRelay(): Promise<Answer> {
  const body = { jsonrpc: '2.0', id: 1, method: 'web3_clientVersion', params: [] };
  return service.call('POST', '/verify/rpc', { key: null, body });
}

function isConfirmed(path: string): Promise<unknown> {
  return waitUntil(async () => {
    const { json } = await service.call('GET', `${platform}/${path}`);
    return json.status === 'confirmed' || json.status === 'finalized';
  }, 60_000);
}
