/** Puts steps that needed a second person into a service that is to be archived. */
import assert from 'node:assert/strict';
import type { Client } from './client.ts';
import type { MadePeople } from './people.ts';
import type { Filled } from './summary.ts';

const api = '/api-v1/platform';

/** Call it when nobody erases anything any more: from then on that needs a second person. */
export async function fillApprovals(
  client: Client,
  { owner }: Pick<MadePeople['visitors'], 'owner'>,
): Promise<Filled> {
  const rules = { eraseContent: true, expiresAfterHours: 720 };
  const ruled = await owner.call('PUT', `${api}/approval-rules`, { body: rules });
  assert.equal(ruled.status, 200, ruled.text);
  const { address: vaultAddress } = await client.post('/platform/vaults', { name: 'To be erased' });
  const ask = async (number: number): Promise<string> => {
    const { id } = await client.post('/platform/records', { vaultAddress, data: { number } });
    const { approval } = await client.send('DELETE', `/platform/records/${id}/data`);
    return approval.id;
  };
  const [approved, refused, withdrawn] = [await ask(1), await ask(2), await ask(3), await ask(4)];
  for (const [id, decision] of [
    [approved, 'approve'],
    [refused, 'refuse'],
  ]) {
    const body = { reason: `To ${decision} it is right` };
    const decided = await owner.call('POST', `${api}/approvals/${id}/${decision}`, { body });
    assert.equal(decided.status, 200, decided.text);
  }
  await client.post(`/platform/approvals/${withdrawn}/withdraw`, { reason: 'A mistake' });
  // Not the one that waits: it expires.
  const decided = [approved, refused, withdrawn];
  return { reads: decided.map((id) => ({ key: 'all', path: `${api}/approvals/${id}` })), proofs: [] };
}
