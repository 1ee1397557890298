/** Vaults to work on, made through the API. */
import { apiBase } from '../src/http/api/api.ts';
import { keyHeaders, type Service } from './service.ts';
import type { StreamRequest } from './stream.ts';

export const vaultsPath = `${apiBase}/platform/vaults`;

/** Returns their addresses. */
export async function makeVaults(service: Service, count: number): Promise<string[]> {
  const makeOne = async (_: unknown, position: number): Promise<string> => {
    const answer = await fetch(service.url + vaultsPath, {
      method: 'POST',
      headers: { ...keyHeaders(service), 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Vault ${position}`, description: 'Made for the benchmark' }),
    });
    if (answer.status !== 201) throw new Error(`no vault was made: ${await answer.text()}`);
    return ((await answer.json()) as { address: string }).address;
  };
  return Promise.all(Array.from({ length: count }, makeOne));
}

/**
 * Requests that make an event each, for whoever goes round them: all vaults off, then all of them on again.
 * `done`: how many were sent before.
 */
export function switchVaults(service: Service, addresses: string[], done: number): StreamRequest[] {
  const headers = keyHeaders(service);
  const all = ['deactivate', 'reactivate'].flatMap((change) =>
    addresses.map((address) => ({
      method: 'PATCH' as const,
      path: `${vaultsPath}/${address}/${change}`,
      headers,
    })),
  );
  const next = done % all.length;
  return [...all.slice(next), ...all.slice(0, next)];
}

/** What these requests tell subscribers. */
export const switchEvents = ['vault.deactivated', 'vault.reactivated'];
