/** The service that is fuzzed: in a process of its own, so that its memory and CPU time can be measured. */
import type { Scope } from '../../src/runtime/caller.ts';
import { type PathValues, readOperations, webhookSettings } from '../support/openapi/openapi-operations.ts';
import {
  makeInvitation,
  makeMember,
  makeOwner,
  makePerson,
  makeThings,
} from '../support/openapi/openapi-things.ts';
import { threadCpuMs } from '../support/service/cpu-time.ts';
import { startService } from '../support/service/service.ts';
import type { Fixture, Question } from './fixture.ts';

/**
 * Most endpoints lead nowhere. With the five hundred that a workspace may have, a long run would spend its time on their
 * deliveries instead of on requests.
 */
const fewEndpoints = { HOLDFAST_BUDGET_ENDPOINTS: '20' };
const service = await startService({ env: { ...webhookSettings, ...fewEndpoints }, log: 'of requests' });
const operations = await readOperations(service);
const existing = await makeThings(service);
const disposable: PathValues = {
  ...(await makeThings(service)),
  ...(await makeOwner(service)),
};
Object.assign(disposable, await makeMember(service, existing), await makeInvitation(service, existing));
const viewer = await makePerson(service, 'viewer');
const developer = await makePerson(service, 'developer');
const readScopes: Scope[] = ['vaults:read', 'files:read', 'records:read', 'assets:read', 'events:read'];

const fixture: Fixture = {
  url: service.url,
  operations,
  existing,
  disposable,
  keys: [
    service.key,
    await service.makeKey({ scopes: readScopes }),
    await service.makeKey({ scopes: ['webhooks:write'] }),
    await service.makeKey({ newWorkspace: true }),
    await revokedKey(),
  ],
  cookies: [viewer.cookies(), developer.cookies()],
};
process.send?.(fixture);

async function revokedKey(): Promise<string> {
  const { json } = await service.call('POST', '/api-v1/platform/api-keys', { body: { name: 'Revoked' } });
  await service.call('DELETE', `/api-v1/platform/api-keys/${json.id}`);
  return json.key;
}

process.on('message', (question: Question) => {
  if (question === 'end') {
    void service.close().then(() => process.disconnect());
    return;
  }
  if (question === 'heap') global.gc?.();
  process.send?.(question === 'heap' ? process.memoryUsage().heapUsed : threadCpuMs());
});
