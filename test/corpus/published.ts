/** Publishes pages of assets of a service that is to be archived. */
import type { Client } from './client.ts';
import type { MadeSigning } from './signing.ts';
import type { Filled, Summary } from './summary.ts';

export interface MadePages extends Filled {
  pages: NonNullable<Summary['pages']>;
}

const until = '2199-01-01T00:00:00Z';
/** The example in the standard of GS1. */
const numbers = { gtin: '09506000134352', serial: 'A17' };

export async function fillPages(
  client: Client,
  { assetId, viewer: vaultAddress }: Pick<MadeSigning, 'assetId' | 'viewer'>,
): Promise<MadePages> {
  const publish = (id: string, body: object) =>
    client.post(`/damc/assets/${id}/published-pages/`, { until, show: ['name', 'state'], ...body });
  const entries = { show: ['type', 'summary', 'performedAt', 'release', 'signoffs'] };
  const { link } = await publish(assetId, { entries });
  // Of another asset: a list tells the address of the service with such a link.
  const linked = await client.post('/damc/assets/', { vaultAddress, name: 'Altimeter' });
  const { digitalLink } = await publish(linked.assetId, { digitalLink: numbers });
  return {
    pages: [
      { path: new URL(link).pathname, text: 'Calibrated after the replacement of a gyro.' },
      { path: new URL(digitalLink).pathname, text: 'Altimeter' },
    ],
    reads: [{ key: 'all', path: `/api-v1/damc/assets/${assetId}/published-pages/` }],
    proofs: [],
  };
}
